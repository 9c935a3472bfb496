# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
#
# make            build everything into build/
# make run        set up, build, and show a job of four ranks
# make test       set up, build, run every test; T=pattern runs some of them
# make test-long  the same, with the long forms of what make test runs shortened
# make man, html, deb  manual pages of MPI, a manual for browsers, Debian packages
# make fresh      both, on a Debian that has nothing yet: SUITE=trixie for Debian 13
# make thread-test  threads in MPI, under ThreadSanitizer
# make real       run programs that others have written; P=name runs one
# make vm-test    the driver in virtual machines (see docs/lab.md)
# make bench      compare with MPICH and Open MPI, BASE=dir also with another build of
#                 ours; B=cases runs some, NEWER_PEERS=0 does without newer peers
#                 (see docs/performance.md)
# make dsm-grow   what shared memory costs as the work grows, for the report
# make report     a page from the results: R=files, SVG=folder for README's pictures
# make install    PREFIX=/usr/local DESTDIR=
# make uninstall  the same PREFIX and DESTDIR
# make fuzz       fuzz for longer: FUZZ_SECONDS=600
# make format     lay out all C files as .clang-format says; format-check only looks
# make lint       read user space with cppcheck (see .cppcheck)
# make coverage   run the tests, print lines and branches run by folder; T=pattern
# make compdb     write compile_commands.json, for editors and clangd
# make clean
#
# Also: BUILD=dir, CC=gcc-14, OPT="-O0 -g", CFLAGS and LDFLAGS for additions,
# SAN=1 for the address and undefined-behaviour sanitizers, SAN=thread for the
# one that looks for races (with a BUILD of its own), WERROR=1, COVERAGE=1 (with a
# BUILD of its own) for what scripts/coverage reads.
#
# Parts with rules of their own keep them in a file that is included below.
# Such a file adds what it builds to `all`, what only tests need to
# `test-build`, and its own installation to `install-parts`.

BUILD   ?= build
PREFIX  ?= /usr/local
LIBDIR  ?= $(PREFIX)/lib
MANDIR  ?= $(PREFIX)/share/man
UNITDIR ?= $(PREFIX)/lib/systemd/system
DESTDIR ?=
VERSION := 0.1.0
ifeq ($(origin CC),default)
CC      := gcc
endif
OPT     ?= -O2 -g
# Programs that test the library: optimizing them takes longer than they run.
TEST_OPT ?= -O0 -g
# Seconds for each fuzz target, in `make test`, `make test-long` and `make fuzz`.
FUZZ_SHORT   ?= 10
FUZZ_LONG    ?= 120
FUZZ_SECONDS ?= 600

# clang does not know every warning that is switched off below.
NOT_GCC := $(if $(findstring clang,$(shell $(CC) --version 2>/dev/null)), \
             -Wno-unknown-warning-option)
WARN := -Wall -Wextra -Wstrict-prototypes -Wmissing-prototypes \
        -Wshadow -Wno-unused-parameter $(if $(WERROR),-Werror) $(NOT_GCC)
comma := ,
SANITIZER := $(if $(filter thread,$(SAN)),thread,address$(comma)undefined)
SANITIZE  := $(if $(SAN),-fsanitize=$(SANITIZER) -fno-omit-frame-pointer) \
             $(if $(COVERAGE),--coverage -fprofile-update=atomic)

# The BPF program, where there is what it takes to build it.
CLANG   ?= clang
BPFTOOL := $(firstword $(shell command -v bpftool) \
             $(wildcard /usr/sbin/bpftool /sbin/bpftool))
O2G_BPF := $(if $(and $(BPFTOOL),$(shell command -v $(CLANG)),$(shell \
             pkg-config --exists libbpf 2>/dev/null && echo yes)),1,0)

# A folder is compiled with the headers that it may use and no others, so an include
# against the arrows of docs/architecture.md does not compile; tests/system/includes.sh
# tries. engine/env has the core's env.h, engine/info what the o2g command asks libo2g.
DEFS := -DO2G_VERSION='"$(VERSION)"' -DO2G_BPF=$(O2G_BPF)
INC_core    := -Icore -Iengine/env
INC_base    := -Ibase -Iinclude
INC_channel := -Ichannel -Icore -Ibase -Iinclude -Iengine/env
INC_engine  := -Iengine -Iengine/info $(INC_channel)
INC_mpi     := -Impi -Ibase -Iinclude -I$(BUILD)/include
INC_launch  := -Ilaunch/pmi -Ibase -Iinclude
INC_dsm     := -Idsm/proto -Idsm/lib -Idsm/lib/env -Ibase -Iinclude -I$(BUILD)/include
INC_fs      := -Ifs/server -Ifs -Iengine/env -Ibase -Iinclude
INC_tools   := -Itools -Idsm/lib -Iengine/info -Iengine/env -Ichannel -Ibase -Iinclude -Impi \
               -I$(BUILD)/include
# Tests see everything.
INC_tests   := $(INC_engine) $(INC_mpi) -Ilaunch/pmi -Idsm/proto -Idsm/lib/env \
               -Itests/fs -Ifs -Ifs/server
INC         := $(INC_tests) $(DEFS)
# $(call inc,SOURCE): what is given to the compiler for it.
inc = $(INC_$(firstword $(subst /, ,$(1)))) $(DEFS)
INC_FOLDERS := core base channel engine mpi launch dsm fs tools tests
ALL_INC     := $(DEFS) $(foreach f,$(INC_FOLDERS),$(f): $(INC_$(f)))
# What the caller gives comes after ours, once, also when make calls make.
ours := -std=gnu11 $(OPT) $(WARN) $(SANITIZE) -fno-strict-aliasing -pthread
override CFLAGS := $(ours) $(filter-out $(ours),$(CFLAGS))
LIBFLAGS := -fPIC -fvisibility=hidden
# A library that lacks a symbol does not link; a sanitizer's come from outside.
NO_UNDEFINED := $(if $(SAN),,-Wl$(comma)-z$(comma)defs)

CORE_SRC   := $(wildcard core/*.c)
BASE_SRC   := $(wildcard base/*.c)
CHAN_SRC   := $(filter-out %.bpf.c,$(wildcard channel/*.c channel/*/*.c))
ENGINE_SRC := $(wildcard engine/*.c)
MPI_SRC    := $(filter-out mpi/fortran/%,$(wildcard mpi/*/*.c mpi/*/*/*.c))
PMI_SRC    := $(wildcard launch/pmi/*.c)
TOOL_SRC   := $(filter-out tools/$(if $(filter 1,$(O2G_BPF)),bpf_noload,bpf_load).c, \
                $(wildcard tools/*.c)) mpi/coll/asked.c

O2G_SRC  := $(CORE_SRC) $(BASE_SRC) $(CHAN_SRC) $(ENGINE_SRC)
O2G_OBJ  := $(O2G_SRC:%.c=$(BUILD)/%.o)
MPI_OBJ  := $(patsubst %.c,$(BUILD)/%.o,$(MPI_SRC) $(PMI_SRC))
TOOL_OBJ := $(TOOL_SRC:%.c=$(BUILD)/%.o)

LIBO2G := $(BUILD)/lib/libo2g.so
LIBMPI := $(BUILD)/lib/libmpi.so
MPICC  := $(BUILD)/bin/mpicc
MPI_H  := $(BUILD)/include/mpi.h

# Examples that use libo2g alone, and those that are MPI programs.
EXAMPLES     := $(patsubst examples/%.c,$(BUILD)/examples/%, \
                  $(wildcard examples/*.c))
EXAMPLES_MPI := $(patsubst %.c,$(BUILD)/%, \
                  $(shell grep -ls '^.include <mpi.h>' examples/*.c))
EXAMPLES_DSM := $(patsubst %.c,$(BUILD)/%, \
                  $(shell grep -ls '^.include <o2g_dsm.h>' examples/*.c))
EXAMPLES_O2G := $(filter-out $(EXAMPLES_MPI) $(EXAMPLES_DSM),$(EXAMPLES))

.DEFAULT_GOAL := all
.DELETE_ON_ERROR:
.SUFFIXES:
.PHONY: all run test test-long fresh thread-test real test-build bench bench-build report fuzz install install-parts \
        uninstall clean setup FORCE
all: $(LIBO2G) $(LIBMPI) $(BUILD)/bin/o2g $(EXAMPLES)

# Rewritten only when the flags change: everything compiled depends on it.
$(BUILD)/flags: FORCE
	@mkdir -p $(@D)
	@printf '%s\n' '$(subst ','\'',$(CC) $(CFLAGS) $(CPPFLAGS) $(LDFLAGS) $(ALL_INC))' | \
	  cmp -s - $@ || \
	  printf '%s\n' '$(subst ','\'',$(CC) $(CFLAGS) $(CPPFLAGS) $(LDFLAGS) $(ALL_INC))' >$@

# The same for the list of objects: a deleted source changes the library too.
$(BUILD)/objects: FORCE
	@mkdir -p $(@D)
	@echo $(O2G_OBJ) $(MPI_OBJ) $(TOOL_OBJ) | cmp -s - $@ || \
	  echo $(O2G_OBJ) $(MPI_OBJ) $(TOOL_OBJ) >$@

# What every message goes through gains from more inlining.
HOT := $(BUILD)/core/%.o $(BUILD)/channel/%.o $(BUILD)/engine/%.o
$(filter $(HOT),$(O2G_OBJ)): LIBFLAGS += $(if $(filter -O2,$(OPT)),-O3)

$(BUILD)/%.o: %.c $(BUILD)/flags
	@mkdir -p $(@D)
	$(CC) $(CFLAGS) $(LIBFLAGS) $(CPPFLAGS) $(call inc,$<) -MMD -MP -c $< -o $@

$(LIBO2G): $(O2G_OBJ) engine/libo2g.map $(BUILD)/objects
	@mkdir -p $(@D)
	$(CC) -shared $(CFLAGS) $(LDFLAGS) $(NO_UNDEFINED) -Wl,-soname,libo2g.so.0 \
	  -Wl,--version-script,engine/libo2g.map -Wl,-Bsymbolic \
	  -o $@ $(O2G_OBJ) -pthread -lnettle
	ln -sf libo2g.so $(@D)/libo2g.so.0

# Prototypes come from a table: see mpi/bindings/README.md.
$(MPI_H): $(wildcard mpi/bindings/*.py mpi/bindings/*.tsv mpi/bindings/*.in)
	@mkdir -p $(@D)
	python3 -B mpi/bindings/mpi_h.py $@
$(MPI_OBJ): | $(MPI_H)

# The function that the program called is on the stack while it waits, so that
# `o2g why` can name it (mpi/tools/state_where.c).
$(MPI_OBJ): LIBFLAGS += -fno-optimize-sibling-calls

# Two chapters of MPI ask the launcher.
MPI_ASKS := $(filter mpi/process/% mpi/info/%,$(MPI_SRC))
$(MPI_ASKS:%.c=$(BUILD)/%.o): private INC_mpi += -Ilaunch/pmi

$(LIBMPI): $(MPI_OBJ) $(LIBO2G) mpi/libmpi.map
	@mkdir -p $(@D)
	$(CC) -shared $(CFLAGS) $(LDFLAGS) $(NO_UNDEFINED) -Wl,-soname,libmpi_abi.so.1 \
	  -Wl,--version-script,mpi/libmpi.map -Wl,-rpath,'$$ORIGIN' \
	  -static-libgcc -o $@ $(MPI_OBJ) -L$(@D) -lo2g -pthread -lm
	ln -sf libmpi.so $(@D)/libmpi_abi.so.1
	ln -sf libmpi.so $(@D)/libmpi_abi.so

TOOL_BPF := $(BUILD)/channel/bpf/sys.o $(BUILD)/channel/bpf/name.o
$(BUILD)/bin/o2g: $(TOOL_OBJ) $(TOOL_BPF) $(LIBO2G)
	@mkdir -p $(@D)
	$(CC) $(CFLAGS) $(LDFLAGS) -Wl,-rpath,'$$ORIGIN/../lib' \
	  -o $@ $(TOOL_OBJ) $(TOOL_BPF) -L$(BUILD)/lib -lo2g \
	  $(if $(filter 1,$(O2G_BPF)),-lbpf)

# clang has no word for it.
bpf_arch  = $(shell $(CC) -print-multiarch 2>/dev/null || gcc -print-multiarch)
bpf_clang = $(CLANG) -O2 -g -target bpf -mcpu=v3 -Wall -Wextra -Werror \
            -I/usr/include/$(bpf_arch) \
            $(if $(filter x86_64-%,$(bpf_arch)),-DO2G_BPF_ORDERED)
$(BUILD)/tools/bpf_load.o: $(BUILD)/include/o2g_bpf.skel.h
$(BUILD)/include/o2g_bpf.skel.h: channel/bpf/o2g.bpf.c channel/bpf/seat.h
	@mkdir -p $(@D)
	$(bpf_clang) -c $< -o $(@D)/o2g.bpf.o
	$(BPFTOOL) gen skeleton $(@D)/o2g.bpf.o name o2g_bpf >$@

$(EXAMPLES_O2G): $(BUILD)/examples/%: examples/%.c $(LIBO2G) include/o2g.h \
                 $(BUILD)/flags
	@mkdir -p $(@D)
	$(CC) $(CFLAGS) $(LDFLAGS) -Iinclude -o $@ $< -L$(BUILD)/lib -lo2g \
	  -Wl,-rpath,'$$ORIGIN/../lib'

$(EXAMPLES_MPI): $(BUILD)/examples/%: examples/%.c $(MPICC) $(LIBMPI) \
                 $(MPI_H) $(BUILD)/flags
	@mkdir -p $(@D)
	$(MPICC) $(OPT) $(WARN) $(SANITIZE) -o $@ $<

$(EXAMPLES_DSM): $(BUILD)/examples/%: examples/%.c $(MPICC) $(BUILD)/lib/libo2gdsm.so \
                 include/o2g_dsm.h $(BUILD)/flags
	@mkdir -p $(@D)
	$(MPICC) $(OPT) $(WARN) $(SANITIZE) -o $@ $< $(dsm_link)

include launch/launch.mk dsm/dsm.mk fs/server/server.mk driver/driver.mk fs/client/client.mk mpi/fortran/fortran.mk packaging/packaging.mk
-include tests/unit/unit.mk tests/fuzz/fuzz.mk bench/bench.mk

# --- tests ---

MPI_TESTS := $(patsubst %.c,$(BUILD)/%,$(wildcard tests/mpi/*.c) \
               tests/system/mpi_prog.c tests/system/encrypt_prog.c)
test-build: all $(MPI_TESTS)

$(MPI_TESTS): $(BUILD)/%: %.c $(wildcard tests/mpi/*.h) \
              $(MPI_H) $(MPICC) $(LIBMPI) $(BUILD)/flags
	@mkdir -p $(@D)
	$(MPICC) -std=gnu11 $(TEST_OPT) -Wall -Wextra -Wno-unused-parameter \
	  $(SANITIZE) -Itests/mpi -o $@ $< -pthread -lm

# Calls with wrong arguments are made from the table of functions.
$(BUILD)/tests/mpi/wrong_args.inc: tests/mpi/wrong_args.py \
                                   tests/mpi/wrong_args.skip \
                                   mpi/bindings/functions.tsv
	@mkdir -p $(@D)
	python3 -B $< $@
$(BUILD)/tests/mpi/wrong_args: $(BUILD)/tests/mpi/wrong_args.inc
# gcc takes MPI_UNWEIGHTED for an array of no elements.
$(BUILD)/tests/mpi/wrong_args: TEST_OPT += -I$(BUILD)/tests/mpi \
                               -Wno-stringop-overread $(NOT_GCC)

test-build: $(BUILD)/tests/system/soak
$(BUILD)/tests/system/soak: tests/system/soak.c $(LIBO2G) include/o2g.h \
                            $(BUILD)/flags
	@mkdir -p $(@D)
	$(CC) $(CFLAGS) $(LDFLAGS) -Iinclude -o $@ $< -L$(BUILD)/lib -lo2g \
	  -Wl,-rpath,'$$ORIGIN/../../lib'

# Strangers, for tests/system/crowd.sh; and who looks at a cable, for encrypt.sh.
STRANGERS := $(patsubst %,$(BUILD)/tests/system/%,crowd capture)
test-build: $(STRANGERS)
$(STRANGERS): $(BUILD)/tests/system/%: tests/system/%.c $(BUILD)/flags
	@mkdir -p $(@D)
	$(CC) $(CFLAGS) $(LDFLAGS) -o $@ $<

# The BPF program by itself.
BPF_ALONE := $(patsubst %,$(BUILD)/tests/system/bpf_%,overlap wake names)
BPF_JOIN  := channel/bpf/sys.c channel/bpf/name.c
test-build: $(BPF_ALONE)
$(BPF_ALONE): $(BUILD)/tests/system/%: tests/system/%.c tests/system/bpf_pair.h \
              $(BPF_JOIN) $(BPF_JOIN:.c=.h) channel/bpf/seat.h $(BUILD)/flags
	@mkdir -p $(@D)
	$(CC) $(CFLAGS) $(LDFLAGS) $(INC_channel) -o $@ $< $(BPF_JOIN)

# For tests/system/includes.sh.
.PHONY: $(INC_FOLDERS:%=print-inc-%)
$(INC_FOLDERS:%=print-inc-%): print-inc-%:
	@echo '$(INC_$*)'

-include lab/lab.mk

# Set-up comes first and may install what the rules above look for, so the work
# is done by a second make. As many jobs as there are processors, unless told.
jobs = $(if $(filter -j% --jobserver%,$(MAKEFLAGS)),,-j$(shell nproc))
again = $(MAKE) --no-print-directory $(jobs)

run:
	@scripts/setup run
	@$(again) -s all
	@BUILD=$(BUILD) scripts/demo

test:
	@scripts/setup test
	@$(again) -s test-build
	@BUILD=$(BUILD) FUZZ_SHORT=$(FUZZ_SHORT) tests/run $(T)

test-long:
	@scripts/setup test
	@scripts/setup deb
	@scripts/setup fs
	@$(again) -s test-build
	@BUILD=$(BUILD) LONG=1 FUZZ_SHORT=$(FUZZ_LONG) tests/run $(T)

fresh:
	@SUITE='$(SUITE)' T='$(T)' .ci/run

# The tests in which threads are in MPI at the same time, on libraries that
# report races: those are failures.
THREAD_TESTS := threads coll_threads session_threads tools_threads partitioned \
                grequest handle_int wake win_atomic win_model win_sync win_many
thread-test:
	@scripts/setup test
	@$(again) -s SAN=thread BUILD=$(BUILD)-thread all \
	  $(THREAD_TESTS:%=$(BUILD)-thread/tests/mpi/%)
	@BUILD=$(BUILD)-thread tests/run $(or $(T),$(THREAD_TESTS:%=mpi-*/%.*))

fuzz:
	@scripts/setup test
	@$(again) -s test-build
	@BUILD=$(BUILD) FUZZ_SHORT=$(FUZZ_SECONDS) tests/run 'fuzz/*'
	@$(MAKE) --no-print-directory vm-fuzz

real:
	@scripts/setup real
	@$(again) -s test-build
	@BUILD=$(BUILD) tests/real/run $(P)

bench:
	@scripts/setup bench
	@$(if $(filter 0,$(NEWER_PEERS))$(findstring -q,$(B)),,BUILD=$(BUILD) bench/fetch-newer || [ $$? = 77 ])
	@$(again) -s all bench-build
	@BUILD=$(BUILD) bench/run $(if $(BASE),--base '$(abspath $(BASE))') $(B)

R ?= $(BUILD)/bench/results.json
report:
	@scripts/setup report
	@bench/make-report $(R) -o $(BUILD)/bench/report.html \
	  $(addprefix --dsm ,$(wildcard $(BUILD)/bench/dsm.json)) $(if $(SVG),--svg '$(SVG)')
	@bench/check-report $(BUILD)/bench/report.html

# --- layout ---

# Other versions differ in details, so one is named.
CLANG_FORMAT ?= $(firstword $(shell command -v clang-format-14 clang-format))
C_FILES = $(shell git ls-files '*.c' '*.h')
.PHONY: format format-check
format:
	@$(CLANG_FORMAT) -i $(C_FILES)
format-check:
	@$(CLANG_FORMAT) --dry-run -Werror $(C_FILES)

# --- reading the code ---

# Not tests/, which are run under sanitizers, nor what runs in the kernel.
LINT_FILES = $(filter-out %.bpf.c dsm/kernel/%,$(filter %.c,$(shell git ls-files \
               base core engine channel mpi launch dsm fs/server tools examples bench)))
.PHONY: lint compdb coverage
lint:
	@scripts/setup lint
	@$(MAKE) --no-print-directory -s $(MPI_H)
	@cppcheck -q -j$(shell nproc) --std=c11 --language=c --error-exitcode=1 \
	  --enable=warning,performance,portability --inline-suppr \
	  --library=posix,gnu,.cppcheck/o2g.cfg \
	  --suppressions-list=.cppcheck/suppressions.txt \
	  --template='{file}:{line}: {severity}: {message} [{id}]' \
	  $(INC) $(LINT_FILES)

# Every program that is made of C, the lab's included; kernel modules are not.
COMPDB ?= compile_commands.json
compdb: $(MPI_H) $(MOCK_INC)/ready
	@$(MAKE) -nB --no-print-directory all bench-build test-build $(LAB_TOOLS) \
	  $(BUILD)/lab/insn.so $(BUILD)/lab/show/o2g/messages \
	  $(LAB_FS) $(addprefix $(BUILD)/lab/,liar kapi_peer) \
	  $(addprefix $(BUILD)/lab/show/,sockets lateness dsm files) | \
	  scripts/compdb '$(CC)' >$(COMPDB)
	@echo "$(COMPDB) has $$(grep -c '"file"' $(COMPDB)) files"

# A test that fails does not keep the others from being counted.
COVERAGE_BUILD := $(BUILD)-coverage
coverage:
	@scripts/setup test
	@$(again) -s COVERAGE=1 BUILD=$(COVERAGE_BUILD) OPT='-O0 -g' test-build
	@find $(COVERAGE_BUILD) -name '*.gcda' -delete
	-@BUILD=$(COVERAGE_BUILD) FUZZ_SHORT=1 tests/run $(T)
	@scripts/coverage $(COVERAGE_BUILD)

# --- installation ---

o2g_lib := libo2g.so.$(VERSION)
inst    := install -D -m 644
MAN     := $(wildcard docs/man/*.[1-9])

install: all install-parts
	$(inst) include/o2g.h '$(DESTDIR)$(PREFIX)/include/o2g.h'
	$(inst) include/o2g_dsm.h '$(DESTDIR)$(PREFIX)/include/o2g_dsm.h'
	$(inst) $(MPI_H) '$(DESTDIR)$(PREFIX)/include/mpi.h'
	$(inst) $(LIBO2G) '$(DESTDIR)$(LIBDIR)/$(o2g_lib)'
	ln -sf $(o2g_lib) '$(DESTDIR)$(LIBDIR)/libo2g.so.0'
	ln -sf $(o2g_lib) '$(DESTDIR)$(LIBDIR)/libo2g.so'
	$(inst) $(LIBO2GDSM) '$(DESTDIR)$(LIBDIR)/libo2gdsm.so.$(VERSION)'
	ln -sf libo2gdsm.so.$(VERSION) '$(DESTDIR)$(LIBDIR)/libo2gdsm.so.0'
	ln -sf libo2gdsm.so.$(VERSION) '$(DESTDIR)$(LIBDIR)/libo2gdsm.so'
	$(inst) $(LIBMPI) '$(DESTDIR)$(LIBDIR)/libmpi_abi.so.1'
	ln -sf libmpi_abi.so.1 '$(DESTDIR)$(LIBDIR)/libmpi_abi.so'
	ln -sf libmpi_abi.so.1 '$(DESTDIR)$(LIBDIR)/libmpi.so'
	ln -sf libmpi_abi.so.1 '$(DESTDIR)$(LIBDIR)/libmpi_o2g.so'
	install -D -m 755 $(BUILD)/bin/o2g '$(DESTDIR)$(PREFIX)/bin/o2g'
	mkdir -p '$(DESTDIR)$(UNITDIR)'
	sed 's|@PREFIX@|$(PREFIX)|' tools/o2g-bpf@.service.in \
	  >'$(DESTDIR)$(UNITDIR)/o2g-bpf@.service'
	for p in o2g mpi o2gdsm; do \
	  mkdir -p '$(DESTDIR)$(LIBDIR)/pkgconfig' && \
	  sed -e 's|@PREFIX@|$(PREFIX)|; s|@LIBDIR@|$(LIBDIR)|; s|@VERSION@|$(VERSION)|' \
	    pkgconfig/$$p.pc.in >'$(DESTDIR)$(LIBDIR)'/pkgconfig/$$p.pc || exit 1; \
	done
	for p in mpi-c mpi-cxx; do \
	  ln -sf mpi.pc '$(DESTDIR)$(LIBDIR)'/pkgconfig/$$p.pc || exit 1; \
	done
	for m in $(MAN); do \
	  $(inst) $$m '$(DESTDIR)$(MANDIR)'/man$${m##*.}/$${m##*/} || exit 1; \
	  for also in $$(scripts/man-names $$m); do \
	    echo ".so man$${m##*.}/$${m##*/}" \
	      >'$(DESTDIR)$(MANDIR)'/man$${m##*.}/$$also || exit 1; \
	  done; \
	done

uninstall:
	rm -f '$(DESTDIR)$(PREFIX)/include/o2g.h' '$(DESTDIR)$(PREFIX)/include/mpi.h' \
	  '$(DESTDIR)$(PREFIX)/include/o2g_dsm.h'
	for f in libo2g.so libo2g.so.0 $(o2g_lib) libo2gdsm.so libo2gdsm.so.0 \
	  libo2gdsm.so.$(VERSION) libmpi.so libmpi_o2g.so \
	  libmpi_abi.so libmpi_abi.so.1 pkgconfig/o2g.pc pkgconfig/mpi.pc \
	  pkgconfig/mpi-c.pc pkgconfig/mpi-cxx.pc pkgconfig/o2gdsm.pc; do \
	  rm -f '$(DESTDIR)$(LIBDIR)'/$$f; \
	done
	rm -f '$(DESTDIR)$(PREFIX)/bin/o2g' '$(DESTDIR)$(UNITDIR)/o2g-bpf@.service'
	for m in $(MAN); do \
	  for f in $${m##*/} $$(scripts/man-names $$m); do \
	    rm -f '$(DESTDIR)$(MANDIR)'/man$${m##*.}/$$f; \
	  done; \
	done

clean:
	rm -rf '$(BUILD)'

-include $(O2G_OBJ:.o=.d) $(MPI_OBJ:.o=.d) $(TOOL_OBJ:.o=.d)
