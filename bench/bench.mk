# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
#
# The benchmarks, once for each MPI that is there: ours, MPICH, Open MPI.

# bench/perf is one program for all measurements of messages; `o2g perf` runs
# it.
PERF_SRC    := $(wildcard bench/perf/*.c)
PERF_HEADER := $(wildcard bench/perf/*.h)

# The NAS kernels: a program is nas/NAME.c, with NAME_*.c and nas.c.
NAS_NAMES  := is ep cg mg ft
NAS_HEADER := $(wildcard bench/nas/*.h)
nas_source  = bench/nas/$(1).c $(wildcard bench/nas/$(1)_*.c) bench/nas/nas.c
nas_flags  := -std=gnu11 -O3 -Wall -Wextra -Wno-stringop-overflow $(NOT_GCC)

# MPICH's header makes the compiler warn about MPI_STATUSES_IGNORE.
bench_flags := -std=gnu11 -O2 -Wall -Wextra -Wno-stringop-overflow $(NOT_GCC)

# Parsing and matching in the BPF program, as an experiment: docs/performance.md.
ifeq ($(O2G_BPF),1)
bench-build: $(BUILD)/bench/bpf_match
$(BUILD)/include/bench_match.skel.h: bench/bpf/match.bpf.c bench/bpf/bpf_match.h
	@mkdir -p $(@D)
	$(bpf_clang) -c $< -o $(@D)/match.bpf.o
	$(BPFTOOL) gen skeleton $(@D)/match.bpf.o name bench_match >$@

$(BUILD)/bench/bpf_match: bench/bpf/match.c $(BUILD)/include/bench_match.skel.h \
                          $(BUILD)/include/o2g_bpf.skel.h $(wildcard core/*.h)
	@mkdir -p $(@D)
	$(CC) $(bench_flags) -Wno-unused-parameter -Ibench/bpf -Icore -Iengine/env \
	  -Iinclude -Ichannel -I$(BUILD)/include -o $@ $< core/match.c core/wild.c \
	  core/stream.c core/wire.c channel/bpf/name.c -lbpf
endif

# Plain programs: what is possible without any MPI.
PLAIN_SHARED := bench/plain/plain.c bench/plain/pair.c bench/plain/half_trip.c
PLAIN_BPF    := $(if $(filter 1,$(O2G_BPF)),ring flag)
PLAIN_NAMES  := trip word overlap alltoall pages $(PLAIN_BPF)
plain_bpf    := channel/bpf/name.c -Ichannel -Ibase -Iengine/env -Iinclude -Icore -I$(BUILD)/include -lbpf

bench-build: $(PLAIN_NAMES:%=$(BUILD)/bench/plain/%)
$(BUILD)/bench/plain/ring: $(BUILD)/include/o2g_bpf.skel.h channel/bpf/name.c
$(BUILD)/bench/plain/flag: $(BUILD)/include/bench_flag.skel.h
$(BUILD)/include/bench_flag.skel.h: bench/plain/flag.bpf.c
	@mkdir -p $(@D)
	$(bpf_clang) -c $< -o $(@D)/flag.bpf.o
	$(BPFTOOL) gen skeleton $(@D)/flag.bpf.o name bench_flag >$@

$(BUILD)/bench/plain/%: bench/plain/%.c $(PLAIN_SHARED) bench/plain/plain.h
	@mkdir -p $(@D)
	$(CC) $(bench_flags) -o $@ $< $(PLAIN_SHARED) -pthread $(if $(filter $(PLAIN_BPF),$*),$(plain_bpf))

# The matching of core/ by itself, for more peers than there are ranks.
bench-build: $(BUILD)/bench/match_peers
$(BUILD)/bench/match_peers: bench/match_peers.c core/match.c core/wild.c $(wildcard core/*.h)
	@mkdir -p $(@D)
	$(CC) $(bench_flags) -Icore -Iengine/env -Iinclude -o $@ bench/match_peers.c core/match.c core/wild.c

bench-build: $(BUILD)/bench/corelink
$(BUILD)/bench/corelink: bench/driver/corelink.c
	@mkdir -p $(@D)
	$(CC) $(bench_flags) -o $@ $< -pthread

# $(1): folder, $(2): compiler, $(3): what must be built before, $(4): sources, $(5): flags
define bench_rules
$(BUILD)/bench/$(1)/perf: $(4) $(PERF_HEADER) $(3)
	@mkdir -p $$(@D)
	$(2) $(bench_flags) -o $$@ $(4) $(5)

bench-build: $(BUILD)/bench/$(1)/perf
$(foreach name,$(NAS_NAMES),$(call nas_rule,$(BUILD)/bench/$(1)/nas/,$(name),$(2) $(nas_flags),$(3)))
bench-build: $(NAS_NAMES:%=$(BUILD)/bench/$(1)/nas/%)
endef

# $(1): folder and prefix, $(2): kernel, $(3): command, $(4): built before
define nas_rule
$(1)$(2): $(call nas_source,$(2)) $(NAS_HEADER) $(4)
	@mkdir -p $$(@D)
	$(3) -o $$@ $(call nas_source,$(2)) -lm

endef

# The tests run class S of each.
$(eval $(foreach name,$(NAS_NAMES),$(call nas_rule,$(BUILD)/tests/mpi/nas_,$(name),\
  $(MPICC) $(nas_flags) $(SANITIZE),$(MPICC) $(LIBMPI) $(MPI_H) $(BUILD)/flags)))
test-build: $(NAS_NAMES:%=$(BUILD)/tests/mpi/nas_%)

# A test runs the comparison itself, with us alone.
test-build: $(BUILD)/bench/o2g/perf $(BUILD)/bench/o2g/nas/is \
            $(BUILD)/bench/match_peers $(BUILD)/bench/corelink \
            $(BUILD)/bench/plain/trip $(BUILD)/bench/plain/alltoall

$(eval $(call bench_rules,o2g,$(MPICC),$(MPICC) $(LIBMPI) $(MPI_H),$(PERF_SRC),))
ifneq ($(shell command -v mpicc.mpich),)
$(eval $(call bench_rules,mpich,mpicc.mpich,,$(PERF_SRC)))
endif
ifneq ($(shell command -v mpicc.openmpi),)
$(eval $(call bench_rules,openmpi,mpicc.openmpi,,$(PERF_SRC)))
endif

# Preloaded to MPICH, so that waiting ranks yield.
bench-build: $(BUILD)/bench/yield.so
$(BUILD)/bench/yield.so: bench/yield.c
	@mkdir -p $(@D)
	$(CC) $(bench_flags) -shared -fPIC -o $@ $< -ldl

# Newer versions, which bench/fetch-newer has unpacked beside the system. They are
# made for a newer libc, which is not looked at when programs are linked.
NEWER     := $(BUILD)/real/newer
ifneq ($(wildcard $(NEWER)/.complete),)
newer_lib := $(NEWER)/usr/lib/$(shell $(CC) -print-multiarch)
newer_cc  := $(CC) -Wl,--no-as-needed -Wl,--unresolved-symbols=ignore-in-shared-libs
$(eval $(call bench_rules,mpich-new,$(newer_cc) -I$(NEWER)/usr/include/$(shell \
  $(CC) -print-multiarch)/mpich $(newer_lib)/libmpich.so.12,,$(PERF_SRC)))
$(eval $(call bench_rules,openmpi-new,$(newer_cc) -I$(newer_lib)/openmpi/include \
  $(newer_lib)/libmpi.so.40,,$(PERF_SRC)))
endif

# BASE=dir: another build of ours, to compare with. It may be older, and have no
# windows or no dynamic processes.
ifneq ($(BASE),)
base_lib := $(abspath $(BASE))/lib/libmpi.so
$(BUILD)/bench/o2g-base.from: FORCE
	@mkdir -p $(@D)
	@echo $(abspath $(BASE)) | cmp -s - $@ || echo $(abspath $(BASE)) >$@
$(eval $(call bench_rules,o2g-base,$(abspath $(BASE))/bin/mpicc,$(base_lib) $(BUILD)/bench/o2g-base.from,$(PERF_SRC),\
  $(if $(shell nm -D $(base_lib) | grep -w MPI_Win_allocate),,-DPERF_NO_WINDOW) \
  $(if $(shell nm -D $(base_lib) | grep -w MPI_Comm_spawn),,-DPERF_NO_DYNAMIC)))
endif

# Installed beside the library, which it finds from where it is.
PERF := $(BUILD)/libexec/o2g/perf
all: $(PERF)
$(PERF): $(PERF_SRC) $(PERF_HEADER) $(LIBMPI) $(MPI_H) $(BUILD)/flags
	@mkdir -p $(@D)
	$(CC) $(CFLAGS) $(LDFLAGS) -I$(BUILD)/include -o $@ $(PERF_SRC) \
	  -L$(BUILD)/lib -lmpi -lo2g -Wl,-rpath-link,$(BUILD)/lib \
	  -Wl,-rpath,'$$ORIGIN/../../lib'

.PHONY: install-perf uninstall-perf
install-parts: install-perf
install-perf: all
	install -D -m 755 $(PERF) '$(DESTDIR)$(PREFIX)/libexec/o2g/perf'

uninstall: uninstall-perf
uninstall-perf:
	rm -f '$(DESTDIR)$(PREFIX)/libexec/o2g/perf'
