#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
"""Writes the C code behind the Fortran bindings, one file per chapter.

A routine comes in up to three forms:
    pmpi_x_          mpif.h, `use mpi`; also mpi_f08 where no buffer is involved
    pmpi_x_f08ts_    mpi_f08 with buffers, which are C descriptors
    pmpi_x_c_f08_    large counts in mpi_f08 (pmpi_x_c_f08ts_ with buffers)
each with the same name without the p as a weak alias.

usage: fortran_c.py DIRECTORY
"""
import os
import re
import sys

import c_types
import fortran_types as types
import mpi_h
import table

HEAD = '''\
/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/* Made by mpi/bindings/fortran_c.py from functions.tsv. */
#pragma GCC visibility push(default)
#include <stdlib.h>

#include "section.h"
'''
BY_HAND = ('Sizeof', 'F_sync_reg')  # mpi/fortran/other.c
# Buffers that are nothing but an address, however they look.
ADDRESS_ONLY = re.compile(r'.*(attach|detach).*|Win_create|Free_mem|.*_end|'
                          r'Get_address|Compare_and_swap|Fetch_and_op|Abi_')
# Buffers that hold a block for each rank.
BLOCKS = {'sendbuf': re.compile(r'(neighbor_)?alltoall|scatter'),
          'recvbuf': re.compile(r'(neighbor_)?(alltoall|allgather)|gather')}
# Room for what C writes; a length where the table has none.
STRING_ROOM = {'key': 'MPI_MAX_INFO_KEY', 'datarep': 'MPI_MAX_DATAREP_STRING',
               'port_name': 'MPI_MAX_PORT_NAME'}


class Routine:
    """The pieces of one C function, collected parameter by parameter."""

    def __init__(self, f, form, large):
        self.f, self.form, self.large = f, form, large
        self.declared, self.hidden = [], []  # parameters, lengths of strings
        self.locals, self.needs = [], []     # definitions; what must not be 0
        self.arguments = []
        self.ok, self.always, self.last = [], [], []  # after the call
        self.parameters = f.parameters if large else f.small_parameters()
        self.sections, self.replaced = [], {}
        self.choice = form == 'f08' and types.has_choice(f)

    # --- names ---

    def symbol(self):
        c = '_c' if self.large else ''
        end = '' if self.form == 'old' else \
            '_f08ts_' if self.choice else '_f08_'
        return f'pmpi_{self.f.name.lower()}{c}{end or "_"}'

    def callee(self):
        return f'PMPI_{self.f.name}{"_c" if self.large else ""}'

    def has(self, kind, direction):
        return next((p for p in self.parameters
                     if p.kind == kind and p.direction == direction), None)

    def flag(self):
        """The condition under which outputs are set, besides success."""
        p = self.has('LOGICAL', 'out')
        return f' && c_{p.name}' if p else ''

    def request(self):
        p = self.has('REQUEST', 'out')
        return f'&c_{p.name}' if p and p.array is None else 'NULL'

    # --- parameters ---

    def take(self, ctype, p, argument=None, const=None):
        """Declares the parameter; by default it is passed on as it is."""
        if const is None:
            const = p.direction == 'in'
        self.declared.append(c_types.join(
            f'{"const " if const else ""}{ctype} *', p.name))
        self.arguments.append(p.name if argument is None else argument)

    def add(self, p, position):
        handlers = (
            ('c-only' in p.special, self.add_c_only),
            (p.kind == 'VARARGS', lambda p, i: None),
            (p.kind in types.CHOICE, self.add_choice),
            (types.is_callback(p), self.add_callback),
            (p.kind in types.HANDLES, self.add_handle),
            (p.kind in ('STATUS', 'F90_STATUS', 'F08_STATUS'),
             self.add_status),
            (p.kind == 'STRING', self.add_string),
            (p.kind in ('STRING_ARRAY', 'STRING_2DARRAY'), self.add_strings),
            (p.kind == 'LOGICAL', self.add_logical),
            (p.kind in ('ATTRIBUTE_VAL', 'ATTRIBUTE_VAL_10'),
             self.add_attribute),
            (p.kind in ('EXTRA_STATE', 'EXTRA_STATE2'), self.add_state),
            (p.kind in ('C_BUFFER', 'C_BUFFER2'), self.add_address),
            (p.kind in ('INFO_VALUE_LENGTH', 'STRING_LENGTH') and
             p.direction == 'inout', self.add_string_room),
            (p.kind == 'INDEX' and p.direction == 'out' and
             self.f.chapter == '03', self.add_index),
            (True, self.add_number),
        )
        next(add for applies, add in handlers if applies)(p, position)

    def add_c_only(self, p, position):
        self.arguments.append('0' if p.kind == 'ARGUMENT_COUNT' and
                              p.direction == 'in' else 'NULL')

    def add_number(self, p, position):
        """INTEGER of some kind, or an array of them."""
        ctype = c_types.base(p, self.large)
        if p.kind == 'WEIGHT':
            self.take(ctype, p, f'mpif_weights({p.name})')
        elif p.kind == 'ERROR_CODE' and p.name.startswith('array_of'):
            self.take(ctype, p, f'mpif_errcodes({p.name})')
        elif p.array == 'n,3':
            self.take(ctype, p, f'({ctype}(*)[3]){p.name}')
        elif p.direction == 'in' and p.array is None:
            self.take(ctype, p, f'*{p.name}')
        else:
            self.take(ctype, p)

    def add_index(self, p, position):
        """Fortran counts from one."""
        if p.array is not None:
            self.take('MPI_Fint', p)
            count = self.has('ARRAY_LENGTH', 'out').name
            self.always += [
                f'if (mpif_completed(code) && *{count} != MPI_UNDEFINED)',
                f'\tfor (int i = 0; i < *{count}; i++)',
                f'\t\t{p.name}[i]++;']
            return
        self.locals.append(f'int c_{p.name} = MPI_UNDEFINED;')
        self.take('MPI_Fint', p, f'&c_{p.name}')
        self.always.append(f'*{p.name} = c_{p.name} == MPI_UNDEFINED ? '
                           f'c_{p.name} : c_{p.name} + 1;')

    def add_logical(self, p, position):
        if p.array is not None or p.direction == 'in':
            self.take('MPI_Fint', p,
                      None if p.array is not None else f'*{p.name} != 0')
            return
        self.locals.append(f'int c_{p.name} = 0;')
        self.take('MPI_Fint', p, f'&c_{p.name}')
        self.always.append(f'*{p.name} = c_{p.name} != 0;')

    def add_status(self, p, position):
        ctype = c_types.base(p, False)
        argument = p.name if p.kind != 'STATUS' else f'mpif_status({p.name})'
        self.take(ctype, p, argument)

    def add_handle(self, p, position):
        ctype = types.HANDLES[p.kind]
        x = types.OBJECT[ctype]
        if p.array is not None:
            self.add_handles(p, ctype, x)
            return
        c = f'c_{p.name}'
        if p.direction == 'in' and 'c-pointer' not in p.special:
            self.take('MPI_Fint', p, f'PMPI_{x}_fromint(*{p.name})')
            return
        value = (f'{ctype.upper()}_NULL' if p.direction == 'out' else
                 f'PMPI_{x}_fromint(*{p.name})')
        self.locals.append(f'{ctype} {c} = {value};')
        self.take('MPI_Fint', p, f'&{c}')
        back = f'*{p.name} = PMPI_{x}_toint({c});'
        if p.direction == 'out':
            self.ok.append(back)
        elif p.direction == 'inout':
            self.always.append(back)

    def length(self, p):
        """How many handles there are in an array."""
        if p.array != '*':
            return f'*{p.array}'
        comm = 'PMPI_Comm_fromint(*comm)'
        if self.f.chapter == '08':
            sends = 'true' if p.name.startswith('send') else 'false'
            return f'mpif_neighbors({comm}, {sends})'
        if p.name == 'sendtypes':
            buf = 'sendbuf->base_addr' if self.choice else 'sendbuf'
            return (f'mpif_buffer({buf}) == MPI_IN_PLACE ? 0 : '
                    f'mpif_peers({comm})')
        return f'mpif_peers({comm})'

    def add_handles(self, p, ctype, x):
        c, n = f'c_{p.name}', f'n_{p.name}'
        null = f'{ctype.upper()}_NULL'
        # A call that goes on after it has returned may still look at them.
        keep = self.request() != 'NULL' and p.direction == 'in'
        few = 'NULL' if keep else f'few_{p.name}'
        self.locals.append(f'MPI_Count {n} = {self.length(p)};')
        if not keep:
            self.locals.append(f'{ctype} {few}[MPIF_FEW];')
        if p.direction == 'out':
            self.locals.append(
                f'{ctype} *{c} = mpif_no_handles({null}, {n}, {few});')
        else:
            self.locals.append(
                f'{ctype} *{c} = mpif_handles({p.name}, {n}, {few});')
        self.needs.append(c)
        self.take('MPI_Fint', p, c)
        if p.direction != 'in':
            left = null if p.direction == 'out' else 'NULL'
            self.always.append(
                f'mpif_give_handles({p.name}, {n}, {c}, {left});')
        if keep:
            self.last.append(f'mpif_keep_handles({c}, code, '
                             f'{self.request()});')
        else:
            self.last.append(f'mpif_free_handles({c}, {few});')

    # --- strings ---

    def string_length(self, p):
        """Where the length of a string is."""
        if self.choice:  # a descriptor
            return f'{p.name}->elem_len', f'{p.name}->base_addr'
        self.hidden.append(f'size_t len_{p.name}')
        return f'len_{p.name}', p.name

    def add_string(self, p, position):
        length, text = self.string_length(p)
        self.take('CFI_cdesc_t' if self.choice else 'char', p, f'c_{p.name}')
        if p.direction == 'in':
            how = 'word' if self.f.name.startswith('Info_') else 'string'
            self.locals.append(
                f'char *c_{p.name} = mpif_{how}({text}, {length});')
            self.needs.append(f'c_{p.name}')
            self.last.append(f'free(c_{p.name});')
            return
        given = f'mpif_give({text}, {length}, c_{p.name});'
        room = p.array or STRING_ROOM.get(p.name)
        if room and room.startswith('MPI_'):
            self.locals.append(f'char c_{p.name}[{room} + 1] = "";')
        else:
            size = f'*{room} + 1' if room else self.room_name()
            self.locals.append(f'char *c_{p.name} = calloc(1, {size} + 1);')
            self.needs.append(f'c_{p.name}')
            self.last.append(f'free(c_{p.name});')
        wanted = '' if room else f' && {self.room_name()}'
        self.ok.append(f'if (!code{self.flag()}{wanted})')
        self.ok.append('\t' + given)

    def room_name(self):
        p = (self.has('INFO_VALUE_LENGTH', 'inout') or
             self.has('STRING_LENGTH', 'inout'))
        return f'(size_t)room_{p.name}'

    def add_string_room(self, p, position):
        """In C it counts the zero at the end, in Fortran there is none."""
        self.locals += [f'int room_{p.name} = *{p.name} > 0 ? '
                        f'*{p.name} + 1 : 0;',
                        f'int c_{p.name} = room_{p.name};']
        self.take('MPI_Fint', p, f'&c_{p.name}')
        self.ok += [f'if (!code{self.flag()})',
                    f'\t*{p.name} = c_{p.name} > 0 ? c_{p.name} - 1 : 0;']

    def add_strings(self, p, position):
        length, text = self.string_length(p)
        self.take('char', p, f'c_{p.name}')
        if p.kind == 'STRING_2DARRAY':
            null, ctype = 'mpi_fortran_argvs_null_', 'char ***'
            make = f'mpif_argvs({text}, {length}, *{p.array})'
            free = f'mpif_free_argvs(c_{p.name}, *{p.array});'
        else:
            null, ctype = 'mpi_fortran_argv_null_', 'char **'
            n = '-1' if p.name == 'argv' else '*count'
            make = f'mpif_strings({text}, {length}, {n}, 1)'
            free = f'free(c_{p.name});'
        self.locals.append(f'{ctype}c_{p.name} = {p.name} == {null} ? NULL : '
                           f'{make};')
        self.needs.append(f'(c_{p.name} || {p.name} == {null})')
        self.last.append(free)

    # --- other languages ---

    def language(self):
        kinds = {p.kind for p in self.parameters}
        if kinds & {'EXTRA_STATE2', 'ATTRIBUTE_VAL_10'}:
            return 'MPII_LANG_FORTRAN_INT'
        if kinds & {'EXTRA_STATE', 'ATTRIBUTE_VAL'} or \
                types.has_callback(self.f):
            return 'MPII_LANG_FORTRAN'
        return None

    def add_callback(self, p, position):
        ctype = c_types.callback(p, self.large)
        self.declared.append(f'mpif_routine *{p.name}')
        self.arguments.append(f'({ctype} *)mpif_callback({p.name})')

    def add_state(self, p, position):
        ctype = 'MPI_Aint' if p.kind == 'EXTRA_STATE' else 'MPI_Fint'
        self.take(ctype, p, f'(void *)(MPI_Aint)*{p.name}')

    def add_attribute(self, p, position):
        ctype = 'MPI_Aint' if p.kind == 'ATTRIBUTE_VAL' else 'MPI_Fint'
        if p.direction == 'in':
            self.take(ctype, p, f'(void *)(MPI_Aint)*{p.name}')
            return
        self.locals.append(f'MPI_Aint c_{p.name} = 0;')
        self.take(ctype, p, f'&c_{p.name}')
        self.ok += [f'if (!code{self.flag()})',
                    f'\t*{p.name} = ({ctype})c_{p.name};']

    def add_address(self, p, position):
        """An address that MPI returns. The old MPI_Buffer_detach cannot."""
        self.locals.append(f'void *c_{p.name} = NULL;')
        self.take('MPI_Aint', p, f'&c_{p.name}')
        if self.form == 'f08' or p.kind != 'C_BUFFER2':
            self.ok.append(f'*{p.name} = (MPI_Aint)c_{p.name};')

    # --- buffers ---

    def add_choice(self, p, position):
        if not self.choice:
            self.take('void', p, f'mpif_buffer({p.name})' if
                      p.kind == 'BUFFER' else f'(void *){p.name}')
            return
        if ADDRESS_ONLY.match(self.f.name):
            self.take('CFI_cdesc_t', p, f'mpif_buffer({p.name}->base_addr)',
                      True)
            return
        s = f's_{p.name}'
        use = 'MPIF_' + p.direction.upper()
        if self.is_used_later():
            use += ' | MPIF_LATER'
        count, datatype = (self.parameters + [None, None])[position + 1:
                                                           position + 3]
        self.locals.append(f'struct mpif_section {s} = {{ 0 }};')
        self.take('CFI_cdesc_t', p, f'{s}.buf', True)
        if self.is_typed(p, count, datatype):
            self.replaced[count.name] = f'{s}.count'
            self.replaced[datatype.name] = f'{s}.type'
            make = (f'mpif_typed(&{s}, {p.name}, *{count.name}, '
                    f'PMPI_Type_fromint(*{datatype.name}), '
                    f'{use})')
        elif self.f.chapter == '04':  # filled part by part, after the start
            make = f'mpif_contiguous(&{s}, {p.name})'
        else:
            make = f'mpif_whole(&{s}, {p.name}, {use})'
        self.sections.append((s, make))

    def is_used_later(self):
        """After the call, without a request that tells when it is over?"""
        return self.request() == 'NULL' and (
            self.f.chapter == '12' or self.f.name.endswith('_begin'))

    def is_typed(self, p, count, datatype):
        """Do the next two describe this buffer, and all of it?"""
        if not datatype or datatype.kind != 'DATATYPE' or \
                datatype.array is not None or count.array is not None or \
                not re.match(r'(POLY)?(XFER|DTYPE)_NUM_ELEM', count.kind):
            return False
        if self.f.chapter != '12' and self.has('OPERATION', 'in'):
            return False
        plain = re.sub(r'^i|_init$', '', self.f.name.lower())
        blocks = BLOCKS.get(p.name)
        return not (blocks and blocks.fullmatch(plain))

    # --- all of it ---

    def build(self):
        for i, p in enumerate(self.parameters):
            self.add(p, i)
            if p.name in self.replaced:
                self.arguments[-1] = self.replaced[p.name]
        if self.f.name not in types.FUNCTIONS:
            self.declared.append('MPI_Fint *ierror')
        return self

    def prototype(self):
        glued = ', '.join(d.replace(' ', '\0')
                          for d in self.declared + self.hidden) or 'void'
        kind = c_types.returns(self.f) if self.f.name in types.FUNCTIONS \
            else 'void'
        return mpi_h.wrap(f'{kind}\0{self.symbol()}({glued})').replace(
            '\0', ' ')

    def call(self, result):
        glued = ', '.join(a.replace(' ', '\0') for a in self.arguments)
        return mpi_h.wrap(f'{result}\0=\0{self.callee()}({glued});').replace(
            '\0', ' ')

    def body(self):
        lines = list(self.locals)
        lines.append('int code = MPI_SUCCESS;')
        lines.append('')
        if self.needs:
            lines.append(f'if (!({" && ".join(self.needs)}))')
            lines.append('\tcode = mpif_no_memory();')
        for _, make in self.sections:
            lines += ['if (!code)', f'\tcode = {make};']
        language = self.language()
        if language:
            lines.append(f'o2g_mpi_language({language});')
        guarded = self.needs or self.sections
        if guarded:
            lines.append('if (!code)')
        lines += [('\t' if guarded else '') + line
                  for line in self.call('code').split('\n')]
        if language:
            lines.append('o2g_mpi_language(MPII_LANG_C);')
        lines += self.after()
        lines += ['if (ierror)', '\t*ierror = code;']
        return lines

    def after(self):
        lines = []
        for text in self.ok:
            if text.startswith(('if (', '\t')):
                lines.append(text)
            else:
                lines += ['if (!code)', '\t' + text]
        lines += self.always
        for s, _ in self.sections:
            lines.append(f'mpif_section_end(&{s}, code, {self.request()});')
        return lines + self.last

    def text(self):
        self.build()
        if self.f.name in types.FUNCTIONS:
            glued = ', '.join(self.arguments)
            body = [f'return {self.callee()}({glued});']
        else:
            body = self.body()
        lines = [self.prototype() + ';', self.prototype(), '{']
        lines += ['\t' + b.replace('\n', '\n\t') if b else '' for b in body]
        return '\n'.join(lines + ['}'] + self.aliases()) + '\n'

    def aliases(self):
        symbol = self.symbol()
        names = [symbol]
        if self.form == 'old':
            if not separate_f08(self.f) and self.f in F08:
                names.append(symbol[:-1] + '_f08_')
            if any(p.kind == 'C_BUFFER' for p in self.f.parameters):
                names.append(symbol[:-1] + '_cptr_')
        lines = [f'MPIF_ALSO({symbol}, {name});' for name in names[1:]]
        return lines + [f'MPIF_WEAK({symbol}, {name[1:]});' for name in names]


F08 = types.f08_functions()


def separate_f08(f):
    """Does mpi_f08 need C code of its own?"""
    return types.has_choice(f) or any(p.kind == 'C_BUFFER2'
                                      for p in f.parameters)


def routines(f):
    yield Routine(f, 'old', False)
    if f not in F08:
        return
    if separate_f08(f):
        yield Routine(f, 'f08', False)
    if f.large:
        yield Routine(f, 'f08', True)


def main():
    directory = sys.argv[1]
    os.makedirs(directory, exist_ok=True)
    functions = types.functions()
    for chapter in mpi_h.CHAPTERS:
        text = [HEAD]
        for f in functions:
            if f.chapter == chapter and f.name not in BY_HAND:
                text += [r.text() for r in routines(f)]
        table.write_if_changed(
            os.path.join(directory, f'chapter_{chapter}.c'), '\n'.join(text))


if __name__ == '__main__':
    main()
