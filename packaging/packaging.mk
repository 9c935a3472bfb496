# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
#
# What comes with an installation besides the programs: manual pages of MPI's functions,
# completion for bash, a file for environment modules; the manual as HTML; Debian's
# packages. Included by the Makefile.
#
# make man       build/man3: a page for each MPI function, made from the table
# make html      build/html: docs/ and all manual pages, for a browser; needs mandoc
# make deb       build/deb: Debian packages; needs debhelper

MODULEDIR     ?= $(PREFIX)/share/modulefiles/mpi
COMPLETIONDIR ?= $(PREFIX)/share/bash-completion/completions
MAN3          := $(BUILD)/man3

.PHONY: man html deb install-extras uninstall-extras

man: $(MAN3)/made
$(MAN3)/made: $(wildcard mpi/bindings/*.py mpi/bindings/*.tsv mpi/bindings/*.in)
	@rm -rf $(MAN3)
	@mkdir -p $(MAN3)
	python3 -B mpi/bindings/man_pages.py $(MAN3)
	@touch $@

html: man
	@scripts/setup doc
	python3 -B packaging/html_manual.py $(BUILD)/html $(MAN3)

install-parts: install-extras
install-extras: man
	mkdir -p '$(DESTDIR)$(MANDIR)/man3' '$(DESTDIR)$(COMPLETIONDIR)' \
	  '$(DESTDIR)$(MODULEDIR)'
	install -m 644 $(MAN3)/*.3 '$(DESTDIR)$(MANDIR)/man3'
	install -m 644 packaging/o2g.bash-completion '$(DESTDIR)$(COMPLETIONDIR)/o2g'
	ln -sf o2g '$(DESTDIR)$(COMPLETIONDIR)/mpiexec'
	ln -sf o2g '$(DESTDIR)$(COMPLETIONDIR)/mpirun'
	sed -e 's|@PREFIX@|$(PREFIX)|; s|@LIBDIR@|$(LIBDIR)|; s|@VERSION@|$(VERSION)|' \
	  -e 's|@MANDIR@|$(MANDIR)|' packaging/modulefile.in \
	  >'$(DESTDIR)$(MODULEDIR)/o2g'

uninstall: uninstall-extras
uninstall-extras: man
	for f in $(MAN3)/*.3; do rm -f '$(DESTDIR)$(MANDIR)/man3'/$${f##*/}; done
	for f in o2g mpiexec mpirun; do rm -f '$(DESTDIR)$(COMPLETIONDIR)'/$$f; done
	rm -f '$(DESTDIR)$(MODULEDIR)/o2g'

# Of what is committed, and outside of the tree, which stays as it is.
DEB := $(BUILD)/deb
deb:
	@scripts/setup deb
	packaging/make-deb '$(VERSION)' '$(abspath $(DEB))'
