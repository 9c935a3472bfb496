# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
#
# make          build everything into build/
# make run      set up, build, and show a job of four ranks
# make test     set up, build, run every test
# make bench    compare with MPICH and Open MPI (see docs/performance.md)
# make install  PREFIX=/usr/local DESTDIR=
# make fuzz     fuzz for longer: FUZZ_SECONDS=600

BUILD   ?= build
PREFIX  ?= /usr/local
DESTDIR ?=
CC      ?= gcc
OPT     ?= -O2 -g
VERSION := 0.1.0

WARN    := -Wall -Wextra -Wstrict-prototypes -Wmissing-prototypes \
           -Wshadow -Wno-unused-parameter
INC     := -Iinclude -Icore -Iengine -Ichannel -Ibase -I$(BUILD)/include
CFLAGS  += -std=gnu11 $(OPT) $(WARN) -fno-strict-aliasing -pthread
LIBFLAGS := -fPIC -fvisibility=hidden

CORE_SRC   := $(wildcard core/*.c)
BASE_SRC   := $(wildcard base/*.c)
CHAN_SRC   := $(wildcard channel/*.c channel/*/*.c)
ENGINE_SRC := $(wildcard engine/*.c)
MPI_SRC    := $(wildcard mpi/*.c mpi/coll/*.c mpi/coll/*/*.c)
PMI_SRC    := $(wildcard launch/pmi/*.c)
EXEC_SRC   := $(wildcard launch/mpiexec/*.c)
TOOL_SRC   := $(wildcard tools/*.c)

O2G_OBJ  := $(patsubst %.c,$(BUILD)/%.o,$(CORE_SRC) $(BASE_SRC) $(CHAN_SRC) $(ENGINE_SRC))
MPI_OBJ  := $(patsubst %.c,$(BUILD)/%.o,$(MPI_SRC) $(PMI_SRC))
EXEC_OBJ := $(patsubst %.c,$(BUILD)/%.o,$(EXEC_SRC) $(BASE_SRC))
TOOL_OBJ := $(patsubst %.c,$(BUILD)/%.o,$(TOOL_SRC))

.DEFAULT_GOAL := all
.PHONY: all
all: $(BUILD)/lib/libo2g.so $(BUILD)/lib/libmpi.so

$(BUILD)/%.o: %.c
	@mkdir -p $(@D)
	$(CC) $(CFLAGS) $(LIBFLAGS) $(INC) -Impi -Ilaunch/pmi -MMD -MP -c $< -o $@

$(BUILD)/lib/libo2g.so: $(O2G_OBJ) engine/libo2g.map
	@mkdir -p $(@D)
	$(CC) -shared $(OPT) -Wl,-soname,libo2g.so.0 -Wl,--version-script,engine/libo2g.map \
	  -Wl,-Bsymbolic -o $@ $(O2G_OBJ) -pthread -lnettle
	ln -sf libo2g.so $(@D)/libo2g.so.0

$(BUILD)/lib/libmpi.so: $(MPI_OBJ) $(BUILD)/lib/libo2g.so mpi/libmpi.map
	@mkdir -p $(@D)
	$(CC) -shared $(OPT) -Wl,-soname,libmpi_abi.so.1 -Wl,--version-script,mpi/libmpi.map \
	  -Wl,-rpath,'$$ORIGIN' -o $@ $(MPI_OBJ) -L$(@D) -lo2g -pthread -lm
	ln -sf libmpi.so $(@D)/libmpi_abi.so.1

-include $(O2G_OBJ:.o=.d) $(MPI_OBJ:.o=.d) $(EXEC_OBJ:.o=.d) $(TOOL_OBJ:.o=.d)
