# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
#
# o2gfsd: a file server on libo2g (docs/fs_server.md).

FSD_SRC := $(wildcard fs/server/*.c)
FSD_OBJ := $(FSD_SRC:%.c=$(BUILD)/%.o)

all: $(BUILD)/bin/o2gfsd
$(BUILD)/bin/o2gfsd: $(FSD_OBJ) $(LIBO2G)
	@mkdir -p $(@D)
	$(CC) $(CFLAGS) $(LDFLAGS) -Wl,-rpath,'$$ORIGIN/../lib' \
	  -o $@ $(FSD_OBJ) -L$(BUILD)/lib -lo2g -pthread

-include $(FSD_OBJ:.o=.d)

.PHONY: install-fsd uninstall-fsd
install-parts: install-fsd
install-fsd: all
	mkdir -p '$(DESTDIR)$(PREFIX)/bin' '$(DESTDIR)$(UNITDIR)'
	install -m 755 $(BUILD)/bin/o2gfsd '$(DESTDIR)$(PREFIX)/bin'
	sed 's|@PREFIX@|$(PREFIX)|' fs/server/o2gfsd.service.in \
	  >'$(DESTDIR)$(UNITDIR)/o2gfsd.service'

uninstall: uninstall-fsd
uninstall-fsd:
	rm -f '$(DESTDIR)$(PREFIX)/bin/o2gfsd' '$(DESTDIR)$(UNITDIR)/o2gfsd.service'
