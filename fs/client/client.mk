# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
#
# make fs-client            9pnet_o2g.ko for the running kernel, on the driver
# make fs-client KDIR=dir   ... for the kernel whose headers are in dir

FS_CLIENT_OUT ?= $(BUILD)/fs
FS_CLIENT_SRC := $(wildcard fs/client/*.[ch]) fs/client/Kbuild fs/wire.h driver/env.h \
                 include/o2g_kernel.h

.PHONY: fs-client fs-client-tree

# Links, not copies: as in driver/driver.mk, and for its reason.
fs-client-tree:
	@mkdir -p '$(FS_CLIENT_OUT)/uapi'
	@for f in $(FS_CLIENT_SRC); do \
	  ln -sf "$(CURDIR)/$$f" '$(FS_CLIENT_OUT)/'; \
	done
	@ln -sf '$(CURDIR)/include/uapi/o2g.h' '$(FS_CLIENT_OUT)/uapi/o2g.h'

fs-client: driver fs-client-tree
	$(MAKE) -C '$(KDIR)' M='$(abspath $(FS_CLIENT_OUT))' \
	  KBUILD_EXTRA_SYMBOLS='$(abspath $(DRIVER_OUT))/Module.symvers' modules
