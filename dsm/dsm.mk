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

# Programs to measure it with, each of which checks its result. Those of bench/plain have
# rules of their own; that one is alone.
DSM_BENCH := $(patsubst %,$(BUILD)/bench/dsm/%,sor matmul lu isort tsp water)
test-build: $(DSM_BENCH) $(BUILD)/bench/dsm/fetch
bench-build: $(DSM_BENCH) $(BUILD)/bench/dsm/fetch $(BUILD)/bench/plain/fetch
$(DSM_BENCH): $(BUILD)/%: %.c bench/dsm/dsm_bench.c bench/dsm/dsm_bench.h $(LIBO2GDSM) \
              $(MPICC) $(BUILD)/flags
	@mkdir -p $(@D)
	$(MPICC) -std=gnu11 $(OPT) $(WARN) $(SANITIZE) -o $@ $< bench/dsm/dsm_bench.c $(dsm_link)
$(BUILD)/bench/dsm/fetch: bench/dsm/fetch.c $(LIBO2GDSM) $(MPICC) $(BUILD)/flags
	@mkdir -p $(@D)
	$(MPICC) -std=gnu11 $(OPT) $(WARN) $(SANITIZE) -o $@ $< $(dsm_link)
$(BUILD)/bench/plain/fetch: bench/plain/fetch.c $(BUILD)/flags
	@mkdir -p $(@D)
	$(CC) $(CFLAGS) $(LDFLAGS) -o $@ $<

# make dsm-grow     those programs on 1 to 16 processes; `make report` shows it
.PHONY: dsm-grow
dsm-grow: all $(DSM_BENCH)
	@BUILD=$(BUILD) bench/dsm-grow

# make dsm-module            o2g_dsm.ko for the running kernel, on the driver
# make dsm-module KDIR=dir   ... for the kernel whose headers are in dir
DSM_MODULE_OUT ?= $(BUILD)/dsm-module
DSM_MODULE_SRC := $(wildcard dsm/kernel/*.[ch] dsm/proto/*.[ch]) dsm/kernel/Kbuild \
                  dsm/lib/counts.h include/o2g_kernel.h
.PHONY: dsm-module dsm-module-tree

# Links, not copies: as in driver/driver.mk, and for its reason.
dsm-module-tree:
	@mkdir -p '$(DSM_MODULE_OUT)/uapi'
	@for f in $(DSM_MODULE_SRC); do \
	  ln -sf "$(CURDIR)/$$f" '$(DSM_MODULE_OUT)/'; \
	done
	@ln -sf '$(CURDIR)/include/uapi/o2g_dsm.h' '$(DSM_MODULE_OUT)/uapi/o2g_dsm.h'

dsm-module: driver dsm-module-tree
	$(MAKE) -C '$(KDIR)' M='$(abspath $(DSM_MODULE_OUT))' \
	  KBUILD_EXTRA_SYMBOLS='$(abspath $(DRIVER_OUT))/Module.symvers' modules

-include $(DSM_OBJ:.o=.d)
