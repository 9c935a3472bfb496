# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
#
# The benchmarks, once for each MPI that is there: ours, MPICH, Open MPI.

BENCH_SHARED := bench/bench_common.c bench/window.c
BENCH_HEADER := $(wildcard bench/*.h)
BENCH_NAMES  := $(patsubst bench/%.c,%,\
                  $(filter-out $(BENCH_SHARED),$(wildcard bench/*.c)))

# MPICH's header makes the compiler warn about MPI_STATUSES_IGNORE.
bench_flags := -std=gnu11 -O2 -Wall -Wextra -Wno-stringop-overflow

bench-build: $(BUILD)/bench/corelink
$(BUILD)/bench/corelink: bench/driver/corelink.c
	@mkdir -p $(@D)
	$(CC) $(bench_flags) -o $@ $< -pthread

# $(1): folder, $(2): compiler, $(3): what must be built before
define bench_rules
$(BENCH_NAMES:%=$(BUILD)/bench/$(1)/%): $(BUILD)/bench/$(1)/%: bench/%.c \
    $(BENCH_SHARED) $(BENCH_HEADER) $(3)
	@mkdir -p $$(@D)
	$(2) $(bench_flags) -o $$@ $$< $(BENCH_SHARED)

bench-build: $(BENCH_NAMES:%=$(BUILD)/bench/$(1)/%)
endef

$(eval $(call bench_rules,o2g,$(MPICC),$(MPICC) $(LIBMPI) $(MPI_H)))
ifneq ($(shell command -v mpicc.mpich),)
$(eval $(call bench_rules,mpich,mpicc.mpich,))
endif
ifneq ($(shell command -v mpicc.openmpi),)
$(eval $(call bench_rules,openmpi,mpicc.openmpi,))
endif
