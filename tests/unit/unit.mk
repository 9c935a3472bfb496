# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
#
# Unit tests: every tests/unit/test_*.c and model_*.c becomes one program, built
# with ASan and UBSan. A line in the test says what is linked with it:
#
#	/* sources: core/match.c base/log.c */
#	/* libs: -lnettle */
#
# The word libo2g stands for all of that library. What several tests share, a
# fixture, says in the same way what it needs. Without a sources line a test gets
# core/*.c, base/*.c and channel/body.c.
#
# make unit              build and run them all
# make print-unit-tests  the programs, one per line
# make core-freestanding core/ needs nothing but env.h and memcpy and friends
# make dsm-freestanding  dsm/proto needs nothing but dsm_env.h

# Those of the driver have rules of their own.
UNIT_SRC   := $(filter-out tests/unit/test_driver_%, \
                $(sort $(wildcard tests/unit/test_*.c tests/unit/model_*.c)))
UNIT_TESTS := $(patsubst %.c,$(BUILD)/%,$(UNIT_SRC))

# UBSan adds branches; with COVERAGE they are to be those of the library.
UNIT_SAN   := $(if $(COVERAGE),-O0 $(SANITIZE) -fsanitize=address, \
                -fsanitize=address$(comma)undefined) \
              -fno-sanitize-recover=all -fno-omit-frame-pointer
UNIT_FLAGS := -std=gnu11 -O1 -g $(WARN) -fno-strict-aliasing -pthread \
              $(UNIT_SAN)
UNIT_INC   := -Itests/unit -Itests/mock $(INC)
# A file of the product is compiled with its own folder's.
unit_inc    = $(if $(filter tests/%,$(1)),$(UNIT_INC),$(call inc,$(1)))
UNIT_DEFAULT := $(wildcard core/*.c base/*.c channel/body.c)
UNIT_TIMEOUT ?= 60

include tests/driver/mock/mock.mk

# What the "sources:" or "libs:" lines say, of files and of a test with its fixture.
unit_line = $(shell sed -n 's,^/\* $(2): \(.*\) \*/$$,\1,p' $(1))
unit_lines = $(call unit_line,$(1) $(filter tests/%, \
               $(call unit_line,$(1),sources)),$(2))
unit_sources = $(foreach f,$(patsubst libo2g,$(O2G_SRC),$(or \
                 $(call unit_lines,$(1),sources),$(UNIT_DEFAULT))), \
                 $(or $(wildcard $(f)),$(f)))
unit_objects = $(patsubst %.c,$(BUILD)/unit/%.o,$(1) $(call unit_sources,$(1)))

# Compiled once, for whichever tests are linked with it.
$(BUILD)/unit/%.o: %.c $(BUILD)/flags | $(MPI_H)
	@mkdir -p $(@D)
	$(CC) $(UNIT_FLAGS) $(call unit_inc,$<) -MMD -MP -c $< -o $@

define UNIT_RULE
$(1)_OBJ := $$(call unit_objects,tests/unit/$(1).c)
UNIT_OBJ += $$($(1)_OBJ)
$(BUILD)/tests/unit/$(1): $$($(1)_OBJ)
	@mkdir -p $$(@D)
	$$(CC) $$(UNIT_FLAGS) -o $$@ $$^ \
	  $$(call unit_lines,tests/unit/$(1).c,libs) -lcmocka
endef
$(foreach t,$(notdir $(basename $(UNIT_SRC))),$(eval $(call UNIT_RULE,$(t))))
-include $(sort $(UNIT_OBJ:.o=.d))

test-build: $(UNIT_TESTS) core-freestanding dsm-freestanding

.PHONY: unit print-unit-tests core-freestanding dsm-freestanding
unit: $(UNIT_TESTS) $(MOCK_TESTS) core-freestanding dsm-freestanding
	@failed=0; for t in $(UNIT_TESTS) $(MOCK_TESTS); do \
	  echo "== $$t"; timeout $(UNIT_TIMEOUT) $$t || failed=$$((failed + 1)); \
	done; \
	if [ $$failed -ne 0 ]; then \
	  echo "$$failed unit test programs failed"; exit 1; \
	fi

print-unit-tests:
	@printf '%s\n' $(UNIT_TESTS)

# The core once more, with a stub env.h, no headers of the system but those a
# freestanding compiler brings, and no symbol that the kernel would not have. And the
# same for the protocol of shared memory.
FREE_CC := $(CC) -std=gnu11 -O2 -Wall -Wextra -Werror -Wno-unused-parameter \
           -ffreestanding -nostdinc -fno-strict-aliasing -fno-stack-protector \
           -fno-pie -mgeneral-regs-only -Itests/mock/freestanding
FREE_CORE := $(patsubst %.c,$(BUILD)/freestanding/%.o,$(wildcard core/*.c))
FREE_DSM  := $(patsubst %.c,$(BUILD)/freestanding/%.o,$(wildcard dsm/proto/*.c))

$(FREE_CORE): $(BUILD)/freestanding/%.o: %.c tests/mock/freestanding/env.h \
              $(wildcard core/*.h)
	@mkdir -p $(@D)
	$(FREE_CC) -Icore -c $< -o $@

$(FREE_DSM): $(BUILD)/freestanding/%.o: %.c tests/mock/freestanding/dsm_env.h \
             $(wildcard dsm/proto/*.h)
	@mkdir -p $(@D)
	$(FREE_CC) -Idsm/proto -c $< -o $@

# $(call freestanding,FOLDER,OBJECTS)
define freestanding
@mkdir -p $(BUILD)/freestanding
@ld -r -o $(BUILD)/freestanding/$(subst /,-,$(1)).all $(2)
@bad=$$(nm -u $(BUILD)/freestanding/$(subst /,-,$(1)).all | awk '{print $$2}' | \
  grep -Evx 'memcpy|memset|memmove|memcmp'); \
if [ -n "$$bad" ]; then \
  echo "$(1)/ needs more than it is given: "$$bad; exit 1; \
fi
@if nm $(BUILD)/freestanding/$(subst /,-,$(1)).all | grep -E ' [BbDdCc] '; then \
  echo "$(1)/ has the writable globals above; it must have none"; exit 1; \
fi
@echo "$(1)/ is freestanding"
endef

core-freestanding: $(FREE_CORE)
	$(call freestanding,core,$(FREE_CORE))
dsm-freestanding: $(FREE_DSM)
	$(call freestanding,dsm/proto,$(FREE_DSM))
