# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
#
# libo2gdsm: shared memory between the processes of a job (docs/dsm.md). Its protocol is
# freestanding; tests/unit/unit.mk checks that.

DSM_SRC   := $(wildcard dsm/proto/*.c dsm/lib/*.c)
DSM_OBJ   := $(DSM_SRC:%.c=$(BUILD)/%.o)
LIBO2GDSM := $(BUILD)/lib/libo2gdsm.so
# Programs that use it: $(call dsm_program): what follows mpicc's options and source.
dsm_link  := -Iinclude -L$(BUILD)/lib -lo2gdsm -lo2g -Wl,-rpath,'$$ORIGIN/../lib' \
             -Wl,-rpath,'$$ORIGIN/../../lib'

all: $(LIBO2GDSM)
$(DSM_OBJ): | $(MPI_H)
# The map says what is seen from outside.
$(DSM_OBJ): LIBFLAGS := -fPIC
$(LIBO2GDSM): $(DSM_OBJ) $(LIBMPI) $(LIBO2G) dsm/lib/libo2gdsm.map
	@mkdir -p $(@D)
	$(CC) -shared $(CFLAGS) $(LDFLAGS) $(NO_UNDEFINED) -Wl,-soname,libo2gdsm.so.0 \
	  -Wl,--version-script,dsm/lib/libo2gdsm.map -Wl,-rpath,'$$ORIGIN' \
	  -o $@ $(DSM_OBJ) -L$(@D) -lmpi -lo2g -pthread
	ln -sf libo2gdsm.so $(@D)/libo2gdsm.so.0

# Test programs, started by tests/system/dsm_*.sh with mpiexec.
DSM_TESTS := $(patsubst %.c,$(BUILD)/%,$(wildcard tests/dsm/*.c))
test-build: $(DSM_TESTS)
$(DSM_TESTS): $(BUILD)/%: %.c $(wildcard tests/dsm/*.h) $(LIBO2GDSM) $(MPICC) \
              include/o2g_dsm.h $(BUILD)/flags
	@mkdir -p $(@D)
	$(MPICC) -std=gnu11 -O1 -g $(WARN) $(SANITIZE) -o $@ $< $(dsm_link) -pthread -lm

-include $(DSM_OBJ:.o=.d)
