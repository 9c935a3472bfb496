# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
#
# The launcher and the compiler wrappers. Included by the Makefile.

HWLOC_LIBS ?= -lhwloc

EXEC_SRC := $(wildcard launch/mpiexec/*.c) launch/pmi/pmi_field.c launch/pmi/pmi_value.c base/nearest.c
EXEC_OBJ := $(EXEC_SRC:%.c=$(BUILD)/%.o)
LAUNCH   := mpiexec mpirun o2g-proxy mpicc mpicxx mpic++ mpiCC
LAUNCH_BIN := $(LAUNCH:%=$(BUILD)/bin/%)

all: $(LAUNCH_BIN)

$(BUILD)/bin/mpiexec: $(EXEC_OBJ)
	@mkdir -p $(@D)
	$(CC) $(CFLAGS) $(LDFLAGS) -o $@ $(EXEC_OBJ) $(HWLOC_LIBS)

# One program, by other names: o2g-proxy is what runs on each host.
$(BUILD)/bin/mpirun $(BUILD)/bin/o2g-proxy: $(BUILD)/bin/mpiexec
	ln -sf mpiexec $@

# The wrappers look for include/ and lib/ beside the directory they are in, so
# the files that serve the build tree can be installed anywhere.
BUILD_INCLUDE := $(MPI_H) $(BUILD)/include/o2g.h
$(BUILD)/include/o2g.h: $(BUILD)/include/%: include/%
	@mkdir -p $(@D)
	ln -sf '$(abspath $<)' $@

# Every MPI may have a libmpi.so in a directory that the user names before ours.
# The wrappers link by names that only O2G has.
OWN_NAMES := $(BUILD)/lib/libmpi_o2g.so $(BUILD)/lib/libmpifort_o2g.so
$(OWN_NAMES): %_o2g.so:
	@mkdir -p $(@D)
	ln -sf $(*F).so $@

$(BUILD)/bin/mpicc $(BUILD)/bin/mpicxx: | $(BUILD_INCLUDE) $(BUILD)/lib/libmpi_o2g.so
# $(call make_wrapper,COMPILER,VARIABLE,OPTION,HEADER,LIBS,FLAGS)
define make_wrapper
@mkdir -p $(@D)
sed -e 's|@VERSION@|$(VERSION)|' -e 's|@NAME@|$(@F)|' -e 's|@COMPILER@|$(1)|' \
  -e 's|@VARIABLE@|$(2)|' -e 's|@OPTION@|$(3)|' -e 's|@HEADER@|$(4)|' \
  -e 's|@LIBS@|$(5)|' -e 's|@FLAGS@|$(6)|' $< >$@
chmod +x $@
endef

$(BUILD)/bin/mpicc: launch/mpicc.in
	$(call make_wrapper,cc,O2G_CC,cc,mpi.h,-lmpi_o2g,)
$(BUILD)/bin/mpicxx: launch/mpicc.in
	$(call make_wrapper,c++,O2G_CXX,cxx,mpi.h,-lmpi_o2g,)

$(BUILD)/bin/mpic++ $(BUILD)/bin/mpiCC: $(BUILD)/bin/mpicxx
	ln -sf mpicxx $@

# A rank without MPI, for the launcher's own tests.
PMI_PROG_SRC := tests/system/pmi_prog.c $(wildcard launch/pmi/*.c) base/log.c
PMI_PROG_OBJ := $(PMI_PROG_SRC:%.c=$(BUILD)/%.o)
test-build: $(BUILD)/tests/system/pmi_prog
$(BUILD)/tests/system/pmi_prog: $(PMI_PROG_OBJ)
	@mkdir -p $(@D)
	$(CC) $(CFLAGS) $(LDFLAGS) -o $@ $(PMI_PROG_OBJ)

.PHONY: install-launch uninstall-launch
install-parts: install-launch
install-launch: all
	mkdir -p '$(DESTDIR)$(PREFIX)/bin'
	install -m 755 $(BUILD)/bin/mpiexec '$(DESTDIR)$(PREFIX)/bin'
	for f in mpicc mpicxx; do \
	  sed 's|^libdir=$$|libdir=$(LIBDIR:$(PREFIX)/lib=)|' $(BUILD)/bin/$$f \
	    >'$(DESTDIR)$(PREFIX)/bin'/$$f && \
	  chmod 755 '$(DESTDIR)$(PREFIX)/bin'/$$f || exit 1; \
	done
	ln -sf mpiexec '$(DESTDIR)$(PREFIX)/bin/mpirun'
	ln -sf mpiexec '$(DESTDIR)$(PREFIX)/bin/o2g-proxy'
	ln -sf mpicxx '$(DESTDIR)$(PREFIX)/bin/mpic++'
	ln -sf mpicxx '$(DESTDIR)$(PREFIX)/bin/mpiCC'

uninstall: uninstall-launch
uninstall-launch:
	for f in $(LAUNCH); do \
	  rm -f '$(DESTDIR)$(PREFIX)/bin'/$$f; \
	done

-include $(EXEC_OBJ:.o=.d) $(PMI_PROG_OBJ:.o=.d)
