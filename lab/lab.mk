# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
#
# make vm-test         the driver and the kernel engine in virtual machines:
#                      docs/lab.md; T=pattern runs some, LAB_KERNEL=6.1, 6.12
#                      or sid, LAB_ALL=1 every line of the MPI test list
# make vm-debug-test   the same on a kernel built with KASAN, lockdep and others:
#                      LAB_KERNEL=debug, which is 6.1, or debug-6.12
# make vm-fuzz         fuzz the driver for FUZZ_SECONDS
# make driver-check    sparse and checkpatch
# make vm-show         what the driver is for, beside tcp, MPICH and Open MPI: lab/show;
#                      S="calls messages" runs some of its parts
# make lab-build       only build what a guest needs

ifndef LAB_KERNEL
LAB_KERNEL := $(shell lab/kernel default)
endif
LAB_ALL ?= 0
LAB_OUT := $(BUILD)/lab/$(notdir $(LAB_KERNEL))

.PHONY: vm-show show-build vm-test vm-debug-test vm-fuzz driver-check lab-build lab-modules

LAB_TOOLS := $(addprefix $(BUILD)/lab/,cable remote count fuzz_dev)
$(BUILD)/lab/fuzz_dev: lab/fuzz_socks.c lab/fuzz_around.c lab/fuzz_paper.c \
                       lab/fuzz_lib.c lab/fuzz.h core/wire.c core/wire.h \
                       include/uapi/o2g.h

# A server that lies, for 9pnet_o2g.ko.
$(BUILD)/lab/liar: lab/fs/liar.c fs/wire.h include/o2g.h $(LIBO2G) $(BUILD)/flags
	@mkdir -p $(@D)
	$(CC) $(CFLAGS) $(LDFLAGS) -Iinclude -Iengine/env -I. -o $@ $< \
	  -L$(BUILD)/lib -lo2g -Wl,-rpath,'$$ORIGIN/../lib'

# What a file system is tried with.
LAB_FS := $(addprefix $(BUILD)/lab/fs/,posix mix stuck)
$(BUILD)/lab/fs/stuck: tests/driver/never.c tests/driver/dev.c core/wire.c
$(LAB_FS): $(BUILD)/lab/fs/%: lab/fs/%.c $(BUILD)/flags
	@mkdir -p $(@D)
	$(CC) $(CFLAGS) $(LDFLAGS) $(INC) -Itests/driver -o $@ $(filter %.c,$^)

lab-build: $(BUILD)/lab/liar $(LAB_FS)

# LAB_ALL: the test list also names programs of others, such as bench/nas.
lab-build: $(if $(filter-out 0,$(LAB_ALL)),test-build)
lab-build: $(BUILD)/tests/unit/test_paper # on the driver, in drv_paper
lab-build: $(BUILD)/tests/system/soak # in bpf_soak
lab-build: all $(MPI_TESTS) $(DSM_TESTS) $(STRANGERS) $(DRIVER_TESTS) lab-modules $(LAB_TOOLS) $(BUILD)/lab/insn.so

# The version of the plugin interface goes with QEMU's.
$(BUILD)/lab/insn.so: lab/insn.c $(BUILD)/flags
	@mkdir -p $(@D)
	$(CC) $(CFLAGS) $(LDFLAGS) -fPIC -shared -fvisibility=hidden \
	  -DPLUGIN_VERSION=$$(qemu-system-x86_64 --version 2>/dev/null | \
	    awk '/version/ { print ($$4 + 0 >= 9.2) ? 4 : 1 }') -o $@ $<

$(BUILD)/lab/count: lab/mark.h
$(LAB_TOOLS): $(BUILD)/lab/%: lab/%.c $(BUILD)/flags
	@mkdir -p $(@D)
	$(CC) $(CFLAGS) $(LDFLAGS) $(INC) -o $@ $(filter %.c,$^)

# A process beside kernel modules, in kapi_process.
$(BUILD)/lab/kapi_peer: lab/kapi_peer.c lab/kapi/kapi_orders.h include/o2g.h \
                        $(LIBO2G) $(BUILD)/flags
	@mkdir -p $(@D)
	$(CC) $(CFLAGS) $(LDFLAGS) -Iinclude -Ilab -o $@ $< -L$(BUILD)/lib -lo2g \
	  -Wl,-rpath,'$$ORIGIN/../lib'

lab-build: $(BUILD)/lab/kapi_peer

# Modules are built where their sources are linked to: see driver/driver.mk. Those that
# use the driver's calls need its symbols.
LAB_USERS := lab/kapi driver/examples
lab-modules:
	@mkdir -p $(foreach d,hello $(notdir $(LAB_USERS)),'$(LAB_OUT)/$(d)')
	@ln -sf $(addprefix $(CURDIR)/,$(wildcard lab/hello/*)) '$(LAB_OUT)/hello/'
	@for d in $(LAB_USERS); do \
	  ln -sf "$(CURDIR)/$$d"/* '$(LAB_OUT)'/$${d##*/}/; \
	done
	@kdir=$$(lab/kernel headers '$(LAB_KERNEL)') || exit; \
	  $(MAKE) -s -C "$$kdir" M='$(abspath $(LAB_OUT))/hello' modules && \
	  $(MAKE) -s driver fs-client dsm-module KDIR="$$kdir" DRIVER_OUT='$(LAB_OUT)/driver' \
	    FS_CLIENT_OUT='$(LAB_OUT)/fs' DSM_MODULE_OUT='$(LAB_OUT)/dsm' && \
	  for d in $(notdir $(LAB_USERS)); do \
	    $(MAKE) -s -C "$$kdir" M='$(abspath $(LAB_OUT))'/$$d modules \
	      O2G_DIR='$(abspath $(LAB_OUT))/driver' || exit; \
	  done

# Where the kernel cannot be had there is nothing to test: lab/kernel says why.
lab_ready = scripts/setup lab && { lab/kernel dir '$(LAB_KERNEL)' >/dev/null || { \
  [ $$? = 77 ] && echo "skipped: no kernel $(LAB_KERNEL)" && exit 0; exit 1; }; } && \
  $(again) -s lab-build LAB_KERNEL='$(LAB_KERNEL)' LAB_ALL='$(LAB_ALL)'

vm-test:
	@$(lab_ready) && BUILD=$(BUILD) LAB_ALL=$(LAB_ALL) lab/test --kernel '$(LAB_KERNEL)' $(T)

vm-debug-test: kernel := $(or $(filter debug%,$(LAB_KERNEL)),debug)
vm-debug-test:
	@scripts/setup debug-kernel
	@lab/debug-kernel '$(kernel)'
	@$(MAKE) --no-print-directory vm-test LAB_KERNEL='$(kernel)'

vm-fuzz:
	@$(lab_ready) && BUILD=$(BUILD) FUZZ_SHORT=$(FUZZ_SECONDS) \
	  FUZZ_SEED=$${FUZZ_SEED:-$$(date +%s)} lab/vm run \
	  --kernel '$(LAB_KERNEL)' --time $$(($(FUZZ_SECONDS) + 300)) \
	  -- bash lab/tests/drv_fuzz.sh

driver-check:
	@scripts/setup lab
	@BUILD=$(BUILD) lab/driver-check '$(LAB_KERNEL)'

# --- lab/show ---

# $(1): folder, $(2): compiler, $(3): what must be built before
define show_rule
$(BUILD)/lab/show/$(1)/messages: lab/shows/messages.c lab/mark.h $(3)
	@mkdir -p $$(@D)
	$(2) $(bench_flags) -Ilab -o $$@ $$<

show-build: $(BUILD)/lab/show/$(1)/messages
endef

$(eval $(call show_rule,o2g,$(MPICC),$(MPICC) $(LIBMPI) $(MPI_H)))
ifneq ($(shell command -v mpicc.mpich),)
$(eval $(call show_rule,mpich,mpicc.mpich,))
endif
ifneq ($(shell command -v mpicc.openmpi),)
$(eval $(call show_rule,openmpi,mpicc.openmpi,))
endif

show-build: lab-build bench-build $(addprefix $(BUILD)/lab/show/,sockets lateness dsm files)

$(BUILD)/lab/show/dsm: lab/shows/dsm.c lab/mark.h $(LIBO2GDSM) $(MPICC)
	@mkdir -p $(@D)
	$(MPICC) -std=gnu11 $(OPT) $(WARN) -Ilab -o $@ $< $(dsm_link)

$(BUILD)/lab/show/sockets: lab/shows/sockets.c lab/mark.h tests/driver/dev.c \
                           core/wire.c include/uapi/o2g.h
	@mkdir -p $(@D)
	$(CC) $(CFLAGS) $(LDFLAGS) $(INC) -Ilab -Itests/driver -o $@ $(filter %.c,$^)

$(BUILD)/lab/show/files: lab/shows/files.c lab/mark.h
	@mkdir -p $(@D)
	$(CC) $(CFLAGS) $(LDFLAGS) -Ilab -o $@ $<

$(BUILD)/lab/show/lateness: lab/shows/lateness.c
	@mkdir -p $(@D)
	$(CC) $(CFLAGS) $(LDFLAGS) -o $@ $<

# Other file systems and what tries them are not everywhere.
vm-show:
	@[ -z '$(filter fs,$(S))' ] || scripts/setup fs
	@$(lab_ready) && $(again) -s show-build LAB_KERNEL='$(LAB_KERNEL)' && \
	  BUILD=$(BUILD) LAB_KERNEL='$(LAB_KERNEL)' lab/show $(S)
