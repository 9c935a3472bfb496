# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
"""What a parameter of the table is in Fortran, for the generators of the
modules and of the C code behind them.

There are two styles: 'old' is that of mpif.h and `use mpi` (a handle is an
INTEGER, a buffer an address without type), 'f08' that of `use mpi_f08` (a
handle is a type of its own, a buffer comes with a C descriptor).
"""
import re

import c_types
import table

HANDLES = c_types.HANDLES
OBJECT = {handle: x for x, handle in c_types.OBJECTS.items()}
KINDS = {'MPI_Aint': 'MPI_ADDRESS_KIND', 'MPI_Count': 'MPI_COUNT_KIND',
         'MPI_Offset': 'MPI_OFFSET_KIND'}
C_ONLY = re.compile(r'T_|.*_(c2f|f2c|toint|fromint)$|Status_(c2f08|f082c)$')
# Deprecated before mpi_f08 was there, so it never had them.
NO_F08 = ('Attr_', 'Keyval_')
# Their large-count form differs in a callback only, so it has a name of its own.
CALLBACK_ONLY = ('Op_create', 'Register_datarep')
FUNCTIONS = {'Wtime': 'DOUBLE PRECISION', 'Wtick': 'DOUBLE PRECISION',
             'Aint_add': 'INTEGER(KIND=MPI_ADDRESS_KIND)',
             'Aint_diff': 'INTEGER(KIND=MPI_ADDRESS_KIND)'}
CHOICE = ('BUFFER', 'LOGICAL_VOID')


def functions():
    """What Fortran has of the table."""
    return [f for f in table.functions()
            if f.state == 'yes' and not C_ONLY.match(f.name)]


def f08_functions():
    return [f for f in functions() if not f.name.startswith(NO_F08)]


def parameters(f, large=False):
    listed = f.parameters if large else f.small_parameters()
    return [p for p in listed
            if 'c-only' not in p.special and p.kind != 'VARARGS']


def has_choice(f):
    return any(p.kind in CHOICE for p in f.parameters)


def is_callback(p):
    return p.kind.endswith('FUNCTION')


def has_callback(f):
    return any(is_callback(p) for p in f.parameters)


def overloads(f):
    """Can the compiler tell the large-count form from the other? Not where
    they differ in a callback, or only in MPI_Aint instead of MPI_Count, which
    have the same kind here."""
    if f.name in CALLBACK_ONLY:
        return False
    if len(parameters(f)) != len(parameters(f, True)):
        return True
    return any(c_types.base(p, False) == 'int' and
               c_types.base(p, True) != 'int'
               for p in f.parameters if p.poly)


def specific(f, large):
    """The name of the procedure behind the generic one: section 19.1.5."""
    return ('MPI_' + f.name + ('_c' if large else '') +
            ('_f08ts' if has_choice(f) else '_f08'))


def integer(p, large):
    base = c_types.base(p, large)
    return f'INTEGER(KIND={KINDS[base]})' if base in KINDS else 'INTEGER'


def shape(p, style):
    """What follows the name of an array."""
    status = p.kind == 'STATUS' and style == 'old'
    if p.kind in ('STRING_ARRAY', 'ERROR_CODE') and p.array is None:
        if p.kind == 'STRING_ARRAY' or p.name.startswith('array_of'):
            return '(*)'
    if p.kind == 'STRING_2DARRAY':
        return f'({p.array},*)'
    if p.kind == 'STRING':
        return ''
    if p.array is None:
        return '(MPI_STATUS_SIZE)' if status or p.kind == 'F90_STATUS' else ''
    if p.array == 'n,3':
        return '(3,n)'
    return f'(MPI_STATUS_SIZE,{p.array})' if status else f'({p.array})'


def base(p, style, large):
    """The type, without intent."""
    if p.kind in HANDLES:
        return f'TYPE({HANDLES[p.kind]})' if style == 'f08' else 'INTEGER'
    if p.kind == 'STATUS':
        return 'TYPE(MPI_Status)' if style == 'f08' else 'INTEGER'
    if p.kind == 'F08_STATUS':
        return 'TYPE(MPI_Status)'
    if p.kind.startswith('LOGICAL'):
        return 'LOGICAL'
    if p.kind.startswith('STRING') and p.kind != 'STRING_LENGTH':
        return 'CHARACTER(LEN=*)'
    if p.kind in ('EXTRA_STATE', 'ATTRIBUTE_VAL'):
        return 'INTEGER(KIND=MPI_ADDRESS_KIND)'
    if p.kind in ('C_BUFFER', 'C_BUFFER2'):
        return ('TYPE(C_PTR)' if style == 'f08' else
                'INTEGER(KIND=MPI_ADDRESS_KIND)')
    return integer(p, large)


def intent(p, style):
    """Nothing where a special value may stand for an output, and for outputs
    in the old style, which never had any."""
    if 'no-intent' in p.special:
        return ''
    if p.direction == 'in':
        return ', INTENT(IN)'
    if style == 'old' or p.kind in ('STATUS', 'WEIGHT'):
        return ''
    return f', INTENT({p.direction.upper()})'


def declare(f, p, style, large=False):
    """The lines that declare a dummy argument."""
    if is_callback(p):
        if style == 'old':
            return [f'EXTERNAL {p.name}']
        return [f'PROCEDURE({c_types.callback(p, large)}) :: {p.name}']
    if p.kind in CHOICE or (p.kind == 'C_BUFFER2' and style == 'old'):
        return choice(f, p, style)
    declared = (f'{base(p, style, large)}{intent(p, style)} :: '
                f'{p.name}{shape(p, style)}')
    if style == 'old' and may_be_ignored(f, p):
        return unchecked(p.name) + [declared]
    return [declared]


def may_be_ignored(f, p):
    """Programs with MPI_IN_PLACE give a plain 0 for these arrays, and the old
    interfaces always let them."""
    return f.chapter == '06' and p.name in ('sendcounts', 'sdispls',
                                            'sendtypes')


def unchecked(name):
    """Directives by which compilers take arguments of any type and rank."""
    return [f'!GCC$ ATTRIBUTES NO_ARG_CHECK :: {name}',
            f'!DEC$ ATTRIBUTES NO_ARG_CHECK :: {name}',
            f'!DIR$ IGNORE_TKR {name}', f'!IBM* IGNORE_TKR {name}',
            f'!$PRAGMA IGNORE_TKR {name}']


def keeps(f, p):
    """Does MPI use the buffer after the call has returned?"""
    return ('no-intent' in p.special or f.chapter == '12' or
            any(q.kind == 'REQUEST' and q.direction == 'out'
                for q in f.parameters))


def choice(f, p, style):
    """A buffer that is kept is a TARGET: without that gfortran takes it for
    granted that nobody else looks at it once the call is over."""
    kept = keeps(f, p)
    if style == 'f08':
        how = intent(p, style) if p.direction == 'in' else ''
        return [f'TYPE(*), DIMENSION(..){how}'
                f'{", ASYNCHRONOUS, TARGET" if kept else ""} :: {p.name}']
    return unchecked(p.name) + [
        f'TYPE(*), DIMENSION(*){", TARGET" if kept else ""} :: {p.name}']


def imports(lines):
    """The names of the module that declarations need."""
    text = ' '.join(lines)
    found = set(re.findall(r'(?:TYPE|PROCEDURE)\((\w+)\)', text))
    found |= set(re.findall(r'KIND=(\w+)', text))
    if 'MPI_STATUS_SIZE' in text:
        found.add('MPI_STATUS_SIZE')
    return sorted(found)
