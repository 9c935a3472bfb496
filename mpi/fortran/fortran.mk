# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
#
# The Fortran bindings: a library of their own, so that libmpi needs nothing of
# Fortran. Built when there is a compiler. Included by the Makefile.
#
# Everything is made from the table in mpi/bindings: the C code behind the
# routines, mpif.h, and the modules mpi and mpi_f08. Generators write a file only
# when it changes, so that one more function compiles one more chapter.

FC       ?= gfortran
ifeq ($(origin FC),default)
FC       := gfortran
endif
FCFLAGS  ?= $(filter-out -Wall -Wextra,$(OPT)) -Wall
# INTEGER is C's int here, which the compiler cannot know.
FC_SAN   := $(if $(SAN),-fsanitize=address$(comma)undefined) $(if $(COVERAGE),--coverage)
FC_OURS  := -fPIC -Wno-c-binding-type -ffree-line-length-none

FGEN      := $(BUILD)/fortran
CHAPTERS  := $(shell sed -n 's/^\([0-9][0-9]\)\t.*/\1/p' \
               mpi/bindings/functions.tsv | sort -u)
FGEN_C    := $(CHAPTERS:%=$(FGEN)/chapter_%.c)
FGEN_F90  := $(FGEN)/mpi_f08_types.f90 $(FGEN)/mpi_f08.f90 $(FGEN)/mpi.f90
FHAND_SRC := $(wildcard mpi/fortran/*.c)
FORT_OBJ  := $(FGEN_C:.c=.o) $(FGEN_F90:.f90=.o) $(FHAND_SRC:%.c=$(BUILD)/%.o)
FORT_MODS := mpi.mod mpi_f08.mod mpi_f08_types.mod
FORT_BIN  := mpifort mpif90 mpif77
FORT_INC  := $(BUILD)/include/mpif.h
LIBFORT   := $(BUILD)/lib/libmpifort.so
MPIFORT   := $(BUILD)/bin/mpifort

HAVE_FC := $(shell command -v $(firstword $(FC)))
ifneq ($(HAVE_FC),)

all: $(LIBFORT) $(FORT_INC) $(FORT_BIN:%=$(BUILD)/bin/%)

$(FGEN)/generated: $(wildcard mpi/bindings/*.py mpi/bindings/*.tsv \
                     mpi/bindings/*.in)
	@mkdir -p $(@D)
	python3 -B mpi/bindings/fortran_c.py $(FGEN)
	python3 -B mpi/bindings/fortran_mod.py $(FGEN)
	@touch $@
$(FGEN_C) $(FGEN_F90) $(FGEN)/mpif.h: $(FGEN)/generated ;
$(FORT_INC): $(FGEN)/mpif.h
	@mkdir -p $(@D)
	cp $< $@

# The header of the C descriptors comes with the Fortran compiler. Alone: beside it
# are headers that another C compiler must not find.
CFI_H := $(FGEN)/ISO_Fortran_binding.h
$(CFI_H):
	@mkdir -p $(@D)
	cp $$($(FC) -print-file-name=include/$(@F)) $@
$(FORT_OBJ): private INC_mpi += -Impi/fortran -I$(FGEN)
$(FORT_OBJ): | $(CFI_H)
$(filter-out %.f90,$(FORT_OBJ)): | $(MPI_H)
$(FGEN_C:.c=.o): $(FGEN)/%.o: $(FGEN)/%.c $(BUILD)/flags
	$(CC) $(CFLAGS) $(LIBFLAGS) $(CPPFLAGS) $(INC_mpi) $(DEFS) -MMD -MP -c $< -o $@

$(FGEN_F90:.f90=.o): $(FGEN)/%.o: $(FGEN)/%.f90 $(BUILD)/flags
	@mkdir -p $(BUILD)/include
	$(FC) $(FCFLAGS) $(FC_OURS) -J$(BUILD)/include -c $< -o $@
$(FGEN)/mpi_f08.o $(FGEN)/mpi.o: $(FGEN)/mpi_f08_types.o

# Linked as C: it calls nothing of the compiler's runtime.
$(LIBFORT): $(FORT_OBJ) $(LIBMPI) mpi/fortran/libmpifort.map
	$(CC) -shared $(CFLAGS) $(LDFLAGS) $(NO_UNDEFINED) \
	  -Wl,-soname,libmpifort_abi.so.1 \
	  -Wl,--version-script,mpi/fortran/libmpifort.map -Wl,-rpath,'$$ORIGIN' \
	  -o $@ $(FORT_OBJ) -L$(@D) -lmpi
	ln -sf libmpifort.so $(@D)/libmpifort_abi.so.1
	ln -sf libmpifort.so $(@D)/libmpifort_abi.so

# A program that uses mpif.h passes buffers of many types to one routine without
# an interface. That takes this option since gfortran 10.
MISMATCH := -fallow-argument-mismatch
ALLOW := $(shell echo end | $(FC) $(MISMATCH) -fsyntax-only -x f95 - \
           2>/dev/null && echo $(MISMATCH))

$(MPIFORT): launch/mpicc.in $(BUILD)/flags | $(OWN_NAMES)
	$(call make_wrapper,$(FC),O2G_FC,fc,mpif.h,-lmpifort_o2g -lmpi_o2g,$(ALLOW))
$(BUILD)/bin/mpif90 $(BUILD)/bin/mpif77: $(MPIFORT)
	ln -sf mpifort $@

.PHONY: install-fortran
install-parts: install-fortran
install-fortran: all
	for f in $(FORT_MODS) mpif.h; do \
	  $(inst) $(BUILD)/include/$$f '$(DESTDIR)$(PREFIX)/include'/$$f || exit 1; \
	done
	$(inst) $(LIBFORT) '$(DESTDIR)$(LIBDIR)/libmpifort_abi.so.1'
	ln -sf libmpifort_abi.so.1 '$(DESTDIR)$(LIBDIR)/libmpifort_abi.so'
	ln -sf libmpifort_abi.so.1 '$(DESTDIR)$(LIBDIR)/libmpifort.so'
	ln -sf libmpifort_abi.so.1 '$(DESTDIR)$(LIBDIR)/libmpifort_o2g.so'
	mkdir -p '$(DESTDIR)$(PREFIX)/bin' '$(DESTDIR)$(LIBDIR)/pkgconfig'
	sed 's|^libdir=$$|libdir=$(LIBDIR:$(PREFIX)/lib=)|' $(MPIFORT) \
	  >'$(DESTDIR)$(PREFIX)/bin/mpifort'
	chmod 755 '$(DESTDIR)$(PREFIX)/bin/mpifort'
	ln -sf mpifort '$(DESTDIR)$(PREFIX)/bin/mpif90'
	ln -sf mpifort '$(DESTDIR)$(PREFIX)/bin/mpif77'
	sed -e 's|@PREFIX@|$(PREFIX)|; s|@LIBDIR@|$(LIBDIR)|; s|@VERSION@|$(VERSION)|' \
	  pkgconfig/mpi-fort.pc.in >'$(DESTDIR)$(LIBDIR)/pkgconfig/mpi-fort.pc'

# --- examples ---

FORT_EXAMPLES := $(patsubst %.f90,$(BUILD)/%,$(wildcard examples/*.f90))
all: $(FORT_EXAMPLES)
$(FORT_EXAMPLES): $(BUILD)/%: %.f90 $(MPIFORT) $(LIBFORT) $(FORT_INC) \
                  $(BUILD)/flags
	@mkdir -p $(@D)
	$(MPIFORT) $(OPT) $(FC_SAN) -Wall -o $@ $<

# --- tests: the Fortran programs of tests/mpi; some have a half in C ---

FORT_F90 := $(wildcard tests/mpi/*.f90)
FORT_F77 := $(wildcard tests/mpi/*.f)
FORT_C   := $(wildcard tests/mpi/fortran_c/*.c)
test-build: $(FORT_F90:%.f90=$(BUILD)/%) $(FORT_F77:%.f=$(BUILD)/%)

compile_test = mkdir -p $@.mod && $(MPIFORT) $(OPT) $(FC_SAN) $(1) \
	  -J$@.mod -o $@ $(filter %.f %.f90 %.o,$^)
$(FORT_F90:%.f90=$(BUILD)/%): $(BUILD)/%: %.f90 $(MPIFORT) $(LIBFORT) \
                              $(FORT_INC) $(BUILD)/flags
	$(call compile_test,-Wall -Wno-unused-dummy-argument -Wno-c-binding-type)
$(FORT_F77:%.f=$(BUILD)/%): $(BUILD)/%: %.f $(MPIFORT) $(LIBFORT) \
                            $(FORT_INC) $(BUILD)/flags
	$(call compile_test,-w)

$(FORT_C:%.c=$(BUILD)/%.o): $(BUILD)/%.o: %.c tests/mpi/check.h $(MPICC) \
                            $(MPI_H) $(BUILD)/flags
	@mkdir -p $(@D)
	$(MPICC) -std=gnu11 $(OPT) -Wall -Wextra $(SANITIZE) -c -o $@ $<
$(FORT_C:tests/mpi/fortran_c/%.c=$(BUILD)/tests/mpi/%): \
  $(BUILD)/tests/mpi/%: $(BUILD)/tests/mpi/fortran_c/%.o

-include $(FGEN_C:.c=.d) $(FHAND_SRC:%.c=$(BUILD)/%.d)

else

.PHONY: no-fortran
all: no-fortran
no-fortran:
	@echo "no Fortran bindings: there is no $(FC) (apt-get install gfortran)"

endif

uninstall: uninstall-fortran
.PHONY: uninstall-fortran
uninstall-fortran:
	for f in $(FORT_MODS) mpif.h; do \
	  rm -f '$(DESTDIR)$(PREFIX)/include'/$$f; \
	done
	for f in libmpifort.so libmpifort_o2g.so libmpifort_abi.so libmpifort_abi.so.1 \
	  pkgconfig/mpi-fort.pc; do rm -f '$(DESTDIR)$(LIBDIR)'/$$f; done
	for f in $(FORT_BIN); do rm -f '$(DESTDIR)$(PREFIX)/bin'/$$f; done
