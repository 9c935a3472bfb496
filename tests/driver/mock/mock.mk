# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
#
# Unit tests of the driver: tests/unit/test_driver_*.c, linked with the driver's
# own files, the core with the driver's env.h, and a mock kernel (mock.h).

MOCK_DRIVER := $(wildcard driver/*.c) $(wildcard core/*.c)
MOCK_SRC    := $(wildcard tests/driver/mock/*.c)
MOCK_INC    := $(BUILD)/tests/driver/mock-include
MOCK_TESTS  := $(patsubst %.c,$(BUILD)/%,$(wildcard tests/unit/test_driver_*.c))
MOCK_OBJ    := $(patsubst %.c,$(BUILD)/mock/%.o,$(MOCK_DRIVER) $(MOCK_SRC))
# Type qualifiers and signs are sparse's and the kernel's business.
MOCK_FLAGS  := $(UNIT_FLAGS) -Wno-missing-prototypes -Wno-sign-compare \
               -Wno-shadow -Wno-old-style-declaration -I$(MOCK_INC) \
               -Itests/driver/mock -Itests/unit -Idriver -Icore -Ibase -Iinclude

# Every header of the kernel is the same one; a few are the system's own.
$(MOCK_INC)/ready: $(wildcard driver/*.[ch]) include/o2g_kernel.h tests/driver/mock/mock.mk
	@rm -rf $(@D)
	@sed -n 's,^#include <\([a-z_]*/.*\.h\)>,\1,p' $(wildcard driver/*.[ch]) \
	  include/o2g_kernel.h | \
	  sort -u | grep -vxE 'linux/(types|ioctl|errno)\.h|asm/byteorder\.h' | \
	  while read -r h; do \
	    mkdir -p "$(@D)/$$(dirname "$$h")" && \
	    echo '#include "mock_kernel.h"' >"$(@D)/$$h" || exit 1; \
	  done
	@touch $@

# They tell how long locks are held: mock.c.
$(patsubst %.c,$(BUILD)/mock/%.o,$(MOCK_DRIVER)): MOCK_FLAGS += -finstrument-functions

$(MOCK_OBJ): $(BUILD)/mock/%.o: %.c $(MOCK_INC)/ready $(BUILD)/flags \
             $(wildcard driver/*.h core/*.h tests/driver/mock/*.h) \
             include/uapi/o2g.h include/o2g_kernel.h
	@mkdir -p $(@D)
	$(CC) $(MOCK_FLAGS) -c $< -o $@

# What processes say to the driver, as they say it.
MOCK_USER := $(BUILD)/mock/channel/tcp/hello.o
$(MOCK_USER): channel/tcp/hello.c channel/tcp/hello.h core/hello_wire.h $(BUILD)/flags
	@mkdir -p $(@D)
	$(CC) $(UNIT_FLAGS) -Iengine/env -Icore -Iinclude -c $< -o $@

$(MOCK_TESTS): $(BUILD)/%: %.c $(MOCK_OBJ) $(MOCK_USER) tests/unit/unit.h
	@mkdir -p $(@D)
	$(CC) $(MOCK_FLAGS) -o $@ $< $(MOCK_OBJ) $(MOCK_USER) \
	  -lcmocka -lnettle

test-build: $(MOCK_TESTS)
