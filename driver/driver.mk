# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
#
# make driver             the kernel module for the running kernel
# make driver KDIR=dir    ... for the kernel whose headers are in dir
# make driver-sparse      the same, read by sparse
# make install-dkms       the sources, flat, where dkms looks for them; then
#                         `dkms install o2g/VERSION` builds it for each kernel

KDIR ?= /lib/modules/$(shell uname -r)/build
DRIVER_OUT ?= $(BUILD)/driver
DRIVER_SRC := $(wildcard driver/*.[ch]) driver/Kbuild \
              $(wildcard core/*.[ch])

.PHONY: driver driver-sparse driver-tree install-dkms

# Links, not copies: the compiler's messages then lead to the sources.
driver-tree:
	@mkdir -p '$(DRIVER_OUT)/uapi'
	@for f in $(DRIVER_SRC); do \
	  ln -sf "$(CURDIR)/$$f" '$(DRIVER_OUT)/'; \
	done
	@ln -sf '$(CURDIR)/include/uapi/o2g.h' '$(DRIVER_OUT)/uapi/o2g.h'
	@ln -sf '$(CURDIR)/include/o2g_kernel.h' '$(DRIVER_OUT)/'

driver: driver-tree
	@test -f '$(KDIR)/Makefile' || { \
	  echo "make driver: no kernel headers in $(KDIR); install the package linux-headers-$$(uname -r), or name them with KDIR=" >&2; \
	  exit 1; }
	$(MAKE) -C '$(KDIR)' M='$(abspath $(DRIVER_OUT))' modules

driver-sparse: driver-tree
	$(MAKE) -C '$(KDIR)' M='$(abspath $(DRIVER_OUT))' C=2 \
	  CF=-D__CHECK_ENDIAN__ modules

DKMS_DIR = $(DESTDIR)/usr/src/o2g-$(VERSION)

install-dkms:
	mkdir -p '$(DKMS_DIR)/uapi'
	install -m 644 $(DRIVER_SRC) '$(DKMS_DIR)'
	install -m 644 include/uapi/o2g.h '$(DKMS_DIR)/uapi'
	install -m 644 include/o2g_kernel.h '$(DKMS_DIR)'
	sed 's/@VERSION@/$(VERSION)/' driver/dkms.conf.in >'$(DKMS_DIR)/dkms.conf'

# Programs that try the driver by hand; they run in a guest of the lab.
DRIVER_TESTS := $(patsubst %.c,$(BUILD)/%, \
                  $(filter-out %/dev.c %/pair.c %/never.c %/paper_dev.c %/compat32.c, \
                    $(wildcard tests/driver/*.c)))
test-build: $(DRIVER_TESTS)

# A 32-bit program, without a C library, which would have to be installed for it.
ifeq ($(shell uname -m),x86_64)
test-build lab-build: $(BUILD)/tests/driver/compat32
$(BUILD)/tests/driver/compat32: tests/driver/compat32.c tests/driver/abi.h include/uapi/o2g.h
	@mkdir -p $(@D)
	$(CC) -m32 -std=gnu11 -O1 -Wall -Wextra -Werror -ffreestanding \
	  -fno-stack-protector -fno-pic -nostdlib -static \
	  -isystem /usr/include/x86_64-linux-gnu -Iinclude -Itests/driver -o $@ $<
endif

$(filter $(BUILD)/tests/driver/device% $(BUILD)/tests/driver/hold,$(DRIVER_TESTS)): \
  tests/driver/pair.c
$(BUILD)/tests/driver/device_stuck: tests/driver/never.c
$(filter $(BUILD)/tests/driver/paper%,$(DRIVER_TESTS)): tests/driver/paper_dev.c
$(DRIVER_TESTS): $(BUILD)/%: %.c tests/driver/dev.c core/wire.c \
                 $(wildcard tests/driver/*.h) include/uapi/o2g.h $(BUILD)/flags
	@mkdir -p $(@D)
	$(CC) $(CFLAGS) $(LDFLAGS) $(INC) -Itests/driver -o $@ $(filter %.c,$^) \
	  -pthread
