#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
"""Writes mpif.h and the sources of the modules mpi_f08_types, mpi_f08 and mpi.

usage: fortran_mod.py DIRECTORY
"""
import os
import sys

import fortran_constants as constants
import fortran_types as types
import table

HEAD = '''\
! SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
! Made by mpi/bindings/fortran_mod.py from functions.tsv and mpi.h.in.
'''
INDENT = '  '


def write(path, lines):
    table.write_if_changed(path, HEAD + '\n'.join(lines) + '\n')


def continued(text):
    """A statement in lines of free form, broken between words."""
    lines, line = [], ''
    for word in text.split(' '):
        if len(line) + len(word) > 110:
            lines.append(line + ' &')
            line = INDENT + '  ' + word
        else:
            line = line + ' ' + word if line else word
    return lines + [line]


# --- constants ---

def old_constants(width):
    """For mpif.h and the module mpi. Fits both source forms."""
    def parameter(ctype, name, value):
        return [f'      {ctype} {name}', f'      PARAMETER ({name}={value})']

    lines = []
    for name, value in constants.KINDS + constants.STATUS:
        lines += parameter('INTEGER', name, value)
    for name, value in constants.integers():
        lines += parameter('INTEGER', name, value)
    for name, _, value in constants.handles():
        lines += parameter('INTEGER', name, value)
    for name, value in constants.offsets():
        lines += parameter('INTEGER(KIND=MPI_OFFSET_KIND)', name, value)
    lines += parameter('LOGICAL', 'MPI_SUBARRAYS_SUPPORTED', '.FALSE.')
    lines += parameter('LOGICAL', 'MPI_ASYNC_PROTECTS_NONBLOCKING', '.FALSE.')
    for name, kind, dim in constants.SPECIAL + constants.STATUS_SPECIAL:
        lines += special(name, kind, dim)
    for name in constants.OLD_CALLBACKS:
        lines.append(f'      EXTERNAL {name}')
    assert all(len(line) <= width for line in lines)
    return lines


def special(name, kind, dim):
    return [f'      {kind} MPI_{name}{dim}',
            f'      COMMON /MPI_FORTRAN_{name}/ MPI_{name}']


def f08_constants():
    lines = [f'INTEGER, PARAMETER :: {name} = {value}' for name, value in
             constants.STATUS[1:] + tuple(constants.integers())]
    lines += [f'TYPE({ctype}), PARAMETER :: {name} = {ctype}({value})'
              for name, ctype, value in constants.handles()]
    lines += [f'INTEGER(KIND=MPI_OFFSET_KIND), PARAMETER :: {name} = {value}'
              for name, value in constants.offsets()]
    lines += ['LOGICAL, PARAMETER :: MPI_SUBARRAYS_SUPPORTED = .TRUE.',
              'LOGICAL, PARAMETER :: '
              'MPI_ASYNC_PROTECTS_NONBLOCKING = .FALSE.']
    for name, kind, dim in constants.SPECIAL:
        lines += special(name, kind, dim)
    for name, dim in (('STATUS', ''), ('STATUSES', '(1)')):
        lines.append(f'TYPE(MPI_Status), TARGET, '
                     f'BIND(C, NAME="mpi_f08_{name.lower()}_ignore_") :: '
                     f'MPI_{name}_IGNORE{dim}')
    return lines


# --- procedures ---

def procedure(head, names, declared, bind=None, result=None):
    """An interface body."""
    kind = 'FUNCTION' if result else 'SUBROUTINE'
    lines = continued(f'{kind} {head}({", ".join(names)})' +
                      (f' BIND(C, NAME="{bind}")' if bind else ''))
    needed = types.imports(declared + ([result] if result else []))
    if needed:
        lines.append(f'{INDENT}IMPORT :: {", ".join(needed)}')
    lines.append(f'{INDENT}IMPLICIT NONE')
    if result:
        lines.append(f'{INDENT}{result} :: {head}')
    # directives begin in the first column
    lines += [d if d.startswith('!') else INDENT + d for d in declared]
    return lines + [f'END {kind} {head}']


def arguments(f, style, large, ierror):
    parameters = types.parameters(f, large)
    names = [p.name for p in parameters]
    declared = []
    # sizes of arrays are declared before them
    for p in sorted(parameters, key=lambda p: p.array is not None):
        declared += types.declare(f, p, style, large)
    if f.name not in types.FUNCTIONS and f.name != 'F_sync_reg':
        names.append('ierror')
        declared.append(ierror)
    return names, declared


def f08_procedure(f, prefix, large):
    names, declared = arguments(f, 'f08', large,
                                'INTEGER, OPTIONAL, INTENT(OUT) :: ierror')
    name = prefix + types.specific(f, large)
    bind = name.lower() + '_' if types.has_choice(f) else None
    return procedure(name, names, declared, bind,
                     types.FUNCTIONS.get(f.name))


def generic(name, bodies):
    lines = [f'INTERFACE {name}'.rstrip()]
    for body in bodies:
        lines += [b if b.startswith('!') else INDENT + b for b in body]
    return lines + [f'END INTERFACE {name}'.rstrip()]


def f08_interfaces(prefix):
    lines = []
    for f in types.f08_functions():
        bodies = [f08_procedure(f, prefix, False)]
        name = f'{prefix}MPI_{f.name}'
        if f.large and types.overloads(f):
            bodies.append(f08_procedure(f, prefix, True))
        lines += generic(name, bodies)
        if f.large and not types.overloads(f):
            lines += generic(name + '_c', [f08_procedure(f, prefix, True)])
    return lines


def old_procedure(f, prefix, suffix=''):
    names, declared = arguments(f, 'old', False, 'INTEGER :: ierror')
    name = f'{prefix}MPI_{f.name.upper()}{suffix}'
    if f.name == 'Sizeof':  # the descriptor knows the size
        declared = ['TYPE(*), DIMENSION(..) :: x', *declared[-2:]]
        return procedure(name + '_FTS', names, declared,
                         name.lower() + '_f08ts_')
    if suffix:
        declared = [d.replace('INTEGER(KIND=MPI_ADDRESS_KIND) :: baseptr',
                              'TYPE(C_PTR) :: baseptr') for d in declared]
    return procedure(name, names, declared, None,
                     types.FUNCTIONS.get(f.name))


def old_interfaces(prefix):
    lines = []
    for f in types.functions():
        name = f'{prefix}MPI_{f.name.upper()}'
        if f.name == 'Sizeof':
            lines += generic(name, [old_procedure(f, prefix)])
        elif any(p.kind == 'C_BUFFER' for p in f.parameters):
            lines += generic(name, [old_procedure(f, prefix),
                                    old_procedure(f, prefix, '_CPTR')])
        else:
            lines += generic('', [old_procedure(f, prefix)])
    return lines


# --- callbacks of mpi_f08 ---

ADDRESS = 'INTEGER(KIND=MPI_ADDRESS_KIND) :: '


def attribute_callback(x, ctype, what):
    noun = {'Comm': 'comm', 'Type': 'type', 'Win': 'win'}[x]
    if what == 'copy':
        names = [f'old{noun}', f'{noun}_keyval', 'extra_state',
                 'attribute_val_in', 'attribute_val_out', 'flag', 'ierror']
        declared = [f'TYPE({ctype}) :: old{noun}',
                    f'INTEGER :: {noun}_keyval, ierror',
                    ADDRESS + 'extra_state, attribute_val_in, '
                    'attribute_val_out', 'LOGICAL :: flag']
    else:
        handle = 'datatype' if x == 'Type' else noun
        names = [handle, f'{noun}_keyval', 'attribute_val', 'extra_state',
                 'ierror']
        declared = [f'TYPE({ctype}) :: {handle}',
                    f'INTEGER :: {noun}_keyval, ierror',
                    ADDRESS + 'attribute_val, extra_state']
    return names, declared


def callbacks():
    """(name, arguments, declarations) of every abstract interface."""
    for c, kind in (('', 'INTEGER'), ('_c', 'INTEGER(KIND=MPI_COUNT_KIND)')):
        yield (f'MPI_User_function{c}',
               ['invec', 'inoutvec', 'len', 'datatype'],
               ['TYPE(C_PTR), VALUE :: invec, inoutvec', f'{kind} :: len',
                'TYPE(MPI_Datatype) :: datatype'])
        yield (f'MPI_Datarep_conversion_function{c}',
               ['userbuf', 'datatype', 'count', 'filebuf', 'position',
                'extra_state', 'ierror'],
               ['TYPE(C_PTR), VALUE :: userbuf, filebuf',
                'TYPE(MPI_Datatype) :: datatype', f'{kind} :: count',
                'INTEGER(KIND=MPI_OFFSET_KIND) :: position',
                ADDRESS + 'extra_state', 'INTEGER :: ierror'])
    for x, ctype in (('Comm', 'MPI_Comm'), ('Type', 'MPI_Datatype'),
                     ('Win', 'MPI_Win')):
        for what in ('copy', 'delete'):
            yield (f'MPI_{x}_{what}_attr_function',
                   *attribute_callback(x, ctype, what))
    for x in ('Comm', 'File', 'Session', 'Win'):
        yield (f'MPI_{x}_errhandler_function', [x.lower(), 'error_code'],
               [f'TYPE(MPI_{x}) :: {x.lower()}', 'INTEGER :: error_code'])
    state = ADDRESS + 'extra_state'
    yield ('MPI_Grequest_query_function', ['extra_state', 'status', 'ierror'],
           [state, 'TYPE(MPI_Status) :: status', 'INTEGER :: ierror'])
    yield ('MPI_Grequest_free_function', ['extra_state', 'ierror'],
           [state, 'INTEGER :: ierror'])
    yield ('MPI_Grequest_cancel_function',
           ['extra_state', 'complete', 'ierror'],
           [state, 'LOGICAL :: complete', 'INTEGER :: ierror'])
    yield ('MPI_Datarep_extent_function',
           ['datatype', 'extent', 'extra_state', 'ierror'],
           ['TYPE(MPI_Datatype) :: datatype', ADDRESS + 'extent, extra_state',
            'INTEGER :: ierror'])


def abstract_interfaces():
    lines = ['ABSTRACT INTERFACE']
    for name, names, declared in callbacks():
        lines += [INDENT + b for b in procedure(name, names, declared)]
    return lines + ['END INTERFACE']


def predefined_callbacks():
    """The predefined functions, with the interface of those they stand for."""
    known = {name: (names, declared) for name, names, declared in callbacks()}
    lines = ['INTERFACE']
    for name in constants.CALLBACKS:
        x = name.split('_')[1].capitalize()
        what = 'delete' if 'DELETE' in name else 'copy'
        lines += [INDENT + b for b in procedure(
            name, *known[f'MPI_{x}_{what}_attr_function'])]
    for c in ('', '_c'):
        lines += [INDENT + b for b in procedure(
            'MPI_CONVERSION_FN_NULL' + c.upper(),
            *known[f'MPI_Datarep_conversion_function{c}'])]
    return lines + ['END INTERFACE']


# --- files ---

def module(name, uses, lines):
    return [f'MODULE {name}', *uses, 'IMPLICIT NONE', *lines,
            f'END MODULE {name}']


def types_module():
    lines = [f'INTEGER, PARAMETER :: {name} = {value}'
             for name, value in constants.KINDS + constants.STATUS[:1]]
    for ctype in sorted(constants.HANDLE_TYPES):
        lines += [f'TYPE, BIND(C) :: {ctype}', '  INTEGER :: MPI_VAL',
                  f'END TYPE {ctype}']
    lines += ['TYPE, BIND(C) :: MPI_Status',
              '  INTEGER :: MPI_SOURCE, MPI_TAG, MPI_ERROR',
              '  INTEGER :: MPI_internal(5)', 'END TYPE MPI_Status']
    body = ['CONTAINS']
    for operator, word in (('==', 'eq'), ('/=', 'ne')):
        procedures = []
        for ctype in sorted(constants.HANDLE_TYPES):
            name = f'{ctype}_{word}'.lower()
            procedures.append(name)
            body += [f'ELEMENTAL LOGICAL FUNCTION {name}(a, b)',
                     f'  TYPE({ctype}), INTENT(IN) :: a, b',
                     f'  {name} = a%MPI_VAL {operator} b%MPI_VAL',
                     f'END FUNCTION {name}']
        lines += [f'INTERFACE OPERATOR({operator})']
        lines += [f'  MODULE PROCEDURE {name}' for name in procedures]
        lines += ['END INTERFACE'] + [f'PRIVATE :: {n}' for n in procedures]
    return module('mpi_f08_types', [], lines + body)


C_PTR = ['USE, INTRINSIC :: ISO_C_BINDING, ONLY: C_PTR']


def f08_module():
    return module('mpi_f08', C_PTR + ['USE mpi_f08_types'],
                  ['PRIVATE :: C_PTR', *f08_constants(),
                   *abstract_interfaces(), *predefined_callbacks(),
                   *f08_interfaces(''), *f08_interfaces('P')])


def old_module():
    handles = ', '.join(sorted(constants.HANDLE_TYPES) + ['MPI_Status'])
    uses = C_PTR + continued(f'USE mpi_f08_types, ONLY: {handles}, '
                             'OPERATOR(==), OPERATOR(/=)')
    return module('mpi', uses,
                  ['PRIVATE :: C_PTR', *old_constants(132),
                   *old_interfaces(''), *old_interfaces('P')])


def mpif_h():
    lines = old_constants(72)
    for prefix in ('', 'P'):
        for name, kind in types.FUNCTIONS.items():
            name = f'{prefix}MPI_{name.upper()}'
            lines += [f'      {kind} {name}', f'      EXTERNAL {name}']
    return lines


def main():
    directory = sys.argv[1]
    os.makedirs(directory, exist_ok=True)
    write(os.path.join(directory, 'mpif.h'), mpif_h())
    write(os.path.join(directory, 'mpi_f08_types.f90'), types_module())
    write(os.path.join(directory, 'mpi_f08.f90'), f08_module())
    write(os.path.join(directory, 'mpi.f90'), old_module())


if __name__ == '__main__':
    main()
