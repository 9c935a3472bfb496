# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
#
# Fuzz targets: every tests/fuzz/fuzz_*.c becomes one libFuzzer program, built by
# clang with ASan and UBSan. A "sources:" line in the file says what is linked
# with it (see tests/unit/unit.mk). `make fuzz` and `make test` run them through
# tests/run; a file found to fail goes to tests/fuzz/corpus/<target>/ and is run
# from then on.
#
# make fuzz-short           every target for FUZZ_SHORT seconds, without the rest
# make print-fuzz-targets   the programs, one per line

FUZZ_CC      ?= clang
FUZZ_SRC     := $(sort $(wildcard tests/fuzz/fuzz_*.c))
FUZZ_TARGETS := $(patsubst %.c,$(BUILD)/%,$(FUZZ_SRC))
FUZZ_HDR     := $(wildcard include/*.h core/*.h base/*.h engine/*.h engine/env/*.h channel/*.h dsm/proto/*.h fs/*.h fs/server/*.h \
                  mpi/*/*.h mpi/coll/op/*.h \
                  tests/fuzz/*.h tests/unit/*.h tests/mock/*.h)
FUZZ_FLAGS   := -std=gnu11 -O1 -g $(WARN) -fno-strict-aliasing \
                -fsanitize=fuzzer,address,undefined \
                -fno-sanitize-recover=all -fno-omit-frame-pointer

define FUZZ_RULE
$(BUILD)/tests/fuzz/$(1): tests/fuzz/$(1).c \
        $$(call unit_lines,tests/fuzz/$(1).c,sources) $$(FUZZ_HDR) | $$(MPI_H)
	@mkdir -p $$(@D)
	$$(FUZZ_CC) $$(FUZZ_FLAGS) -Itests/fuzz $$(UNIT_INC) \
	  -o $$@ $$(filter %.c,$$^)
endef
$(foreach t,$(notdir $(basename $(FUZZ_SRC))),$(eval $(call FUZZ_RULE,$(t))))

# In dynamic windows addresses are numbers that others have sent, counted from
# MPI_BOTTOM: what a pointer is on the way to one says nothing. ASan sees each access.
$(BUILD)/tests/fuzz/fuzz_win: FUZZ_FLAGS += -fno-sanitize=pointer-overflow

test-build: $(FUZZ_TARGETS)

.PHONY: fuzz-short print-fuzz-targets
fuzz-short: $(FUZZ_TARGETS)
	@for t in $(FUZZ_TARGETS); do \
	  n=$${t##*/}; mkdir -p $(BUILD)/fuzz-corpus/$$n; \
	  echo "== $$t"; \
	  timeout $$(($(FUZZ_SHORT) + 60)) $$t -max_total_time=$(FUZZ_SHORT) \
	    -verbosity=0 -len_control=10 -print_final_stats=1 -artifact_prefix=$(BUILD)/ \
	    $(BUILD)/fuzz-corpus/$$n \
	    $$(ls -d tests/fuzz/corpus/$$n 2>/dev/null) || exit 1; \
	done

print-fuzz-targets:
	@printf '%s\n' $(FUZZ_TARGETS)
