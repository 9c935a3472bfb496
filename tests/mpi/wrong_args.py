#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
"""Writes the calls of the test wrong_args.c: every function of the library with
one wrong argument at a time, the others being right. It must return the class
that belongs to the argument, and the program must go on. Where the argument is
a pointer, one of the wrong ones is null; see also others().

usage: wrong_args.py OUTPUT

What is right and wrong is told by the kind of the parameter, in the table that
the bindings come from, so a new function is tested as soon as it is there.
"""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                '../../mpi/bindings'))
import c_types  # noqa: E402
import table  # noqa: E402

# A right value by kind, for parameters that are read.
RIGHT = {
    'COMMUNICATOR': 'MPI_COMM_WORLD', 'DATATYPE': 'MPI_INT', 'GROUP': 'group',
    'OPERATION': 'MPI_SUM', 'INFO': 'info', 'ERRHANDLER': 'errh',
    'SESSION': 'session', 'WINDOW': 'win',
    'ASSERT': '0', 'LOCK_TYPE': 'MPI_LOCK_SHARED',
    'FILE': 'file', 'ACCESS_MODE': 'MPI_MODE_RDWR',
    'UPDATE_MODE': 'MPI_SEEK_SET', 'REQUEST': 'request', 'MESSAGE': 'message',
    'KEYVAL': 'keyval', 'STRING': '"name"', 'BUFFER': 'in', 'TAG': '0',
    'RANK': '0', 'RANK_NNI': '0', 'STATUS': '&status', 'ERROR_CLASS': 'class_',
    'ERROR_CODE': 'MPI_ERR_OTHER', 'EXTRA_STATE': 'NULL',
    'EXTRA_STATE2': 'NULL', 'ATTRIBUTE_VAL': 'NULL', 'ATTRIBUTE_VAL_10': 'NULL',
    'FUNCTION': '0', 'POLYFUNCTION': 'user_fn', 'KEY_INDEX': '0',
    'LOGICAL': '0', 'COLOR': '0', 'SPLIT_TYPE': 'MPI_COMM_TYPE_SHARED',
    'ORDER': 'MPI_ORDER_C', 'TYPECLASS': 'MPI_TYPECLASS_INTEGER',
    'TYPECLASS_SIZE': '4', 'THREAD_LEVEL': '0',
    'DISTRIB_ENUM': 'MPI_DISTRIBUTE_BLOCK',
    'DTYPE_DISTRIBUTION': 'MPI_DISTRIBUTE_DFLT_DARG',
    'F90_STATUS': '(MPI_Fint *)&status',
    'F08_STATUS': '(MPI_F08_status *)&status',
}
# (value, class) of a wrong one. None: any value will do.
WRONG = {
    'COMMUNICATOR': ('MPI_COMM_NULL', 'MPI_ERR_COMM'),
    'DATATYPE': ('MPI_DATATYPE_NULL', 'MPI_ERR_TYPE'),
    'GROUP': ('MPI_GROUP_NULL', 'MPI_ERR_GROUP'),
    'OPERATION': ('MPI_OP_NULL', 'MPI_ERR_OP'),
    'INFO': ('(MPI_Info)0x9', 'MPI_ERR_INFO'),
    'ERRHANDLER': ('MPI_ERRHANDLER_NULL', 'MPI_ERR_ERRHANDLER'),
    'SESSION': ('MPI_SESSION_NULL', 'MPI_ERR_SESSION'),
    'WINDOW': ('MPI_WIN_NULL', 'MPI_ERR_WIN'),
    'FILE': ('MPI_FILE_NULL', 'MPI_ERR_FILE'),
    'ACCESS_MODE': ('0', 'MPI_ERR_AMODE'),
    'UPDATE_MODE': ('-1', 'MPI_ERR_ARG'),
    'REQUEST': ('MPI_REQUEST_NULL', 'MPI_ERR_REQUEST'),
    'MESSAGE': ('MPI_MESSAGE_NULL', 'MPI_ERR_REQUEST'),
    'KEYVAL': ('MPI_KEYVAL_INVALID', 'MPI_ERR_KEYVAL'),
    'TAG': ('-77', 'MPI_ERR_TAG'),
    'POLYXFER_NUM_ELEM_NNI': ('-1', 'MPI_ERR_COUNT'),
    'POLYDTYPE_NUM_ELEM_NNI': ('-1', 'MPI_ERR_COUNT'),
    'NUM_DIMS': ('-1', 'MPI_ERR_DIMS'),
}
# The same by name, where a kind has other meanings as well.
RIGHT_NAMED = {'insize': '4096', 'outsize': '4096', 'max_integers': '16',
               'max_addresses': '16', 'max_large_counts': '16',
               'max_datatypes': '16'}
# What only works with something special in place of WORLD.
SPECIAL_COMM = {'Cart': 'cart', 'Neighbor': 'cart', 'Ineighbor': 'cart',
                'Graph_get': 'graph', 'Graph_neighbors': 'graph',
                'Graphdims': 'graph', 'Dist_graph_neighbors': 'dist',
                'Topo': 'cart'}
def right(f, p, large):
    if p.kind == 'COMMUNICATOR' and p.direction != 'out':
        for start, comm in SPECIAL_COMM.items():
            if f.name.startswith(start) and not f.name.endswith('_create') \
                    and not f.name.endswith('_map'):
                return comm
    if p.kind == 'STRING_ARRAY' and p.name == 'array_of_commands':
        return 'commands'
    if p.kind in ('ARGUMENT_LIST', 'STRING_ARRAY', 'STRING_2DARRAY'):
        return 'NULL'
    if p.kind == 'DATATYPE' and f.name == 'Type_get_contents' \
            and p.direction == 'in':
        return 'made'
    if p.kind == 'REQUEST' and p.array is not None:
        return 'requests'
    if p.direction == 'out' or p.direction == 'inout':
        if p.kind in ('BUFFER', 'C_BUFFER', 'C_BUFFER2'):
            return 'out'
        return f'({out_type(p, large)} *)scratch[{right.n % 16}]'
    if p.kind == 'STRING' and p.name == 'datarep':
        return '"external32"'
    if p.array == 'n,3':
        return 'ranges'
    if p.array is not None:
        if p.kind in ('RANK', 'RANK_NNI', 'POLYDISPLACEMENT'):
            return {'int': 'zeros', 'MPI_Aint': 'aints'}[
                c_types.base(p, large)]
        if p.kind in ('DATATYPE', 'INFO'):
            return {'DATATYPE': 'types', 'INFO': 'infos'}[p.kind]
        return {'int': 'ints', 'MPI_Aint': 'aints',
                'MPI_Count': 'counts'}.get(c_types.base(p, large), '0')
    value = RIGHT_NAMED.get(p.name, RIGHT.get(p.kind))
    if p.kind == 'POLYFUNCTION' and large:
        value = 'user_fn_c'
    if f.name == 'Register_datarep' and p.kind == 'POLYFUNCTION':
        value = '0'
    if value is None:
        value = '1'
    if p.name == 'recvtag':
        value = '0'
    return value


right.n = 0


def out_type(p, large):
    if p.kind == 'STRING':
        return 'char'
    if p.kind in c_types.VOID:
        return 'void'
    return c_types.base(p, large)


def wrong(f, p):
    """(value, class) or None."""
    if p.array is not None or p.direction == 'out':
        return None
    if p.kind in ('RANK', 'RANK_NNI'):
        if p.name == 'root':
            return '99', 'MPI_ERR_ROOT'
        return '99', 'MPI_ERR_RANK'
    if p.name == 'blocklength':
        return '-1', 'MPI_ERR_ARG'
    return WRONG.get(p.kind)


def pointer(p):
    return p.array is not None or 'c-pointer' in p.special or \
        p.direction != 'in' or p.kind in ('STRING', 'STRING_ARRAY',
                                           'BUFFER', 'STATUS')


def null(f, p):
    """The class of a null pointer, or None."""
    if not pointer(p) or p.kind == 'STATUS' and p.direction == 'out':
        return None  # no pointer, or MPI_STATUS_IGNORE
    if f.name.startswith('Info_') and p.kind == 'STRING' and \
            p.direction == 'in':
        return {'key': 'MPI_ERR_INFO_KEY', 'value': 'MPI_ERR_INFO_VALUE'}[
            p.name]
    return 'MPI_ERR_BUFFER' if p.kind == 'BUFFER' else 'MPI_ERR_ARG'


def passed(p, value, large):
    """A handle that is given by address needs a variable."""
    if 'c-pointer' in p.special or p.direction == 'inout':
        ctype = c_types.base(p, large)
        return f'&({ctype}){{ {value} }}'
    return value


def call(f, large, parameters, bad, value, error):
    """The call with @value in place of parameter @bad."""
    name = 'MPI_' + f.name + ('_c' if large else '')
    arguments = []
    for i, p in enumerate(parameters):
        right.n = i
        if p is bad:
            arguments.append(value)
        elif 'c-pointer' in p.special:
            arguments.append(passed(p, right(f, p, large), large))
        else:
            arguments.append(right(f, p, large))
    return (f'\tWRONG("{name}", "{bad.name}", {error},\n'
            f'\t      {name}({", ".join(arguments)}));')


def others(f, p, large):
    """More pairs (value, class): a type that nobody has committed, and lists of
    which the first element is wrong."""
    if p.direction != 'in' or not any(q.kind == 'BUFFER' for q in f.parameters):
        return
    if p.kind == 'DATATYPE' and p.array is None:
        yield 'made', 'MPI_ERR_TYPE'
    elif p.kind == 'DATATYPE':
        yield 'made_first', 'MPI_ERR_TYPE'
        yield 'null_first', 'MPI_ERR_TYPE'
    elif p.kind == 'POLYXFER_NUM_ELEM_NNI' and p.array is not None:
        yield ('counts_negative' if large else 'ints_negative'), \
            'MPI_ERR_COUNT'


def calls(f, large, skip):
    parameters = f.parameters if large else f.small_parameters()
    for bad in parameters:
        key = f.name + '.' + bad.name
        if key not in skip:
            for value, error in others(f, bad, large):
                yield call(f, large, parameters, bad, value, error)
        choice = wrong(f, bad)
        if choice is not None and key not in skip:
            value, error = choice
            yield call(f, large, parameters, bad, passed(bad, value, large),
                       error)
        error = null(f, bad)
        if error is not None and key + ':null' not in skip:
            yield call(f, large, parameters, bad, 'NULL', error)


def exemptions():
    path = os.path.join(os.path.dirname(os.path.abspath(__file__)),
                        'wrong_args.skip')
    with open(path) as skips:
        return {line.split()[0] for line in skips
                if line.strip() and not line.startswith('#')}


def main():
    lines = []
    skip = exemptions()
    for f in table.functions():
        if f.state != 'yes' or f.fortran_only or f.name.startswith('T_'):
            continue
        if f.name in skip or c_types.returns(f) != 'int' or \
                f.name.endswith('_toint'):  # returns no code
            continue
        for large in ([False, True] if f.large else [False]):
            lines += calls(f, large, skip)
    with open(sys.argv[1] + '.new', 'w') as out:
        out.write('\n'.join(lines) + '\n')
    os.replace(sys.argv[1] + '.new', sys.argv[1])


if __name__ == '__main__':
    main()
