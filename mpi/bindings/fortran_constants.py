# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
"""The named constants of mpi.h.in as Fortran has them."""
import re

import table

HANDLE_TYPES = {
    'MPI_Comm', 'MPI_Datatype', 'MPI_Errhandler', 'MPI_File', 'MPI_Group',
    'MPI_Info', 'MPI_Message', 'MPI_Op', 'MPI_Request', 'MPI_Session',
    'MPI_Win',
}
# Recognised by their address: name, declaration, dimension. Each is alone in a
# common block, which the C code knows as mpi_fortran_<name>_.
SPECIAL = (
    ('BOTTOM', 'INTEGER', ''),
    ('IN_PLACE', 'INTEGER', ''),
    ('BUFFER_AUTOMATIC', 'INTEGER', ''),
    ('ERRCODES_IGNORE', 'INTEGER', '(1)'),
    ('UNWEIGHTED', 'INTEGER', '(1)'),
    ('WEIGHTS_EMPTY', 'INTEGER', '(1)'),
    ('ARGV_NULL', 'CHARACTER', '(1)'),
    ('ARGVS_NULL', 'CHARACTER', '(1,1)'),
)
STATUS_SPECIAL = (
    ('STATUS_IGNORE', 'INTEGER', '(MPI_STATUS_SIZE)'),
    ('STATUSES_IGNORE', 'INTEGER', '(MPI_STATUS_SIZE,1)'),
)
KINDS = (('MPI_ADDRESS_KIND', 8), ('MPI_COUNT_KIND', 8),
         ('MPI_OFFSET_KIND', 8), ('MPI_INTEGER_KIND', 4))
STATUS = (('MPI_STATUS_SIZE', 8), ('MPI_SOURCE', 1), ('MPI_TAG', 2),
          ('MPI_ERROR', 3))
CALLBACKS = [f'MPI_{x}_{fn}' for x in ('COMM', 'TYPE', 'WIN')
             for fn in ('NULL_COPY_FN', 'DUP_FN', 'NULL_DELETE_FN')]
OLD_CALLBACKS = CALLBACKS + ['MPI_NULL_COPY_FN', 'MPI_DUP_FN',
                             'MPI_NULL_DELETE_FN', 'MPI_CONVERSION_FN_NULL',
                             'MPI_CONVERSION_FN_NULL_C']


def length_of_string(name):
    """The lengths leave out the zero that ends a string of C."""
    return name.startswith('MPI_MAX_')


def integers():
    """(name, value) of plain integers."""
    for name, value, ctype in table.constants():
        if ctype is None and re.fullmatch(r'-?\d+', value) and \
                not name.startswith(('MPI_T_', 'MPI_F_')):
            yield name, int(value) - length_of_string(name)


def handles():
    """(name, type, value)"""
    for name, value, ctype in table.constants():
        if ctype in HANDLE_TYPES:
            yield name, ctype, int(value, 0)


def offsets():
    for name, value, ctype in table.constants():
        if ctype == 'MPI_Offset':
            yield name, int(value)
