# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
"""What a parameter of the table is in C."""

HANDLES = {
    'COMMUNICATOR': 'MPI_Comm', 'DATATYPE': 'MPI_Datatype', 'FILE': 'MPI_File',
    'ERRHANDLER': 'MPI_Errhandler', 'GROUP': 'MPI_Group', 'INFO': 'MPI_Info',
    'MESSAGE': 'MPI_Message', 'OPERATION': 'MPI_Op', 'REQUEST': 'MPI_Request',
    'SESSION': 'MPI_Session', 'WINDOW': 'MPI_Win',
}
# int and intptr_t sized values, by the form with int counts and the large one.
SCALARS = {
    'ALLOC_MEM_NUM_BYTES': 'MPI_Aint', 'DISPLACEMENT': 'MPI_Aint',
    'DISPLACEMENT_NNI': 'MPI_Aint', 'LOCATION_SMALL': 'MPI_Aint',
    'DISPOFFSET_SMALL': 'MPI_Aint', 'RMA_DISPLACEMENT_NNI': 'MPI_Aint',
    'WINDOW_SIZE': 'MPI_Aint', 'WIN_ATTACH_SIZE': 'MPI_Aint',
    'GENERIC_DTYPE_COUNT': 'MPI_Count', 'NUM_BYTES': 'MPI_Count',
    'XFER_NUM_ELEM': 'MPI_Count', 'XFER_NUM_ELEM_NNI': 'MPI_Count',
    'OFFSET': 'MPI_Offset', 'TOOLS_TICK_COUNT': 'MPI_Count',
    'DROPPED_COUNT': 'MPI_Count',
    'CVAR': 'MPI_T_cvar_handle', 'PVAR': 'MPI_T_pvar_handle',
    'PVAR_SESSION': 'MPI_T_pvar_session', 'TOOLS_ENUM': 'MPI_T_enum',
    'EVENT_REGISTRATION': 'MPI_T_event_registration',
    'EVENT_INSTANCE': 'MPI_T_event_instance',
    'CALLBACK_SAFETY': 'MPI_T_cb_safety',
    'SOURCE_ORDERING': 'MPI_T_source_order',
    'F90_COMM': 'MPI_Fint', 'F90_DATATYPE': 'MPI_Fint',
    'F90_ERRHANDLER': 'MPI_Fint', 'F90_FILE': 'MPI_Fint',
    'F90_GROUP': 'MPI_Fint', 'F90_INFO': 'MPI_Fint', 'F90_MESSAGE': 'MPI_Fint',
    'F90_OP': 'MPI_Fint', 'F90_REQUEST': 'MPI_Fint',
    'F90_SESSION': 'MPI_Fint', 'F90_WIN': 'MPI_Fint',
}
POLY = {  # int form, large form
    'POLYDISPLACEMENT': ('int', 'MPI_Aint'),
    'POLYDISPLACEMENT_AINT_COUNT': ('MPI_Aint', 'MPI_Count'),
    'POLYDISPLACEMENT_COUNT': ('int', 'MPI_Count'),
    'POLYDISPOFFSET': ('MPI_Aint', 'MPI_Count'),
    'POLYDTYPE_PACK_SIZE': ('MPI_Aint', 'MPI_Count'),
    'POLYDTYPE_STRIDE_BYTES': ('MPI_Aint', 'MPI_Count'),
    'POLYLOCATION': ('MPI_Aint', 'MPI_Count'),
    'POLYRMA_DISPLACEMENT': ('int', 'MPI_Aint'),
}
STRUCTS = {'STATUS': 'MPI_Status', 'F08_STATUS': 'MPI_F08_status',
           'F90_STATUS': 'MPI_Fint'}
VOID = {'BUFFER', 'C_BUFFER', 'C_BUFFER2', 'C_BUFFER3', 'EXTRA_STATE',
        'EXTRA_STATE2', 'ATTRIBUTE_VAL', 'ATTRIBUTE_VAL_10', 'TOOL_MPI_OBJ',
        'LOGICAL_VOID'}
CALLBACKS = {
    'user_fn': 'MPI_User_function', 'copy_fn': 'MPI_Copy_function',
    'delete_fn': 'MPI_Delete_function',
    'dtype_file_extent_fn': 'MPI_Datarep_extent_function',
    'read_conversion_fn': 'MPI_Datarep_conversion_function',
    'write_conversion_fn': 'MPI_Datarep_conversion_function',
    'query_fn': 'MPI_Grequest_query_function',
    'free_fn': 'MPI_Grequest_free_function',
    'cancel_fn': 'MPI_Grequest_cancel_function',
    'event_cb_function': 'MPI_T_event_cb_function',
    'free_cb_function': 'MPI_T_event_free_cb_function',
    'dropped_cb_function': 'MPI_T_event_dropped_cb_function',
}
RETURNS = {'Wtime': 'double', 'Wtick': 'double', 'Aint_add': 'MPI_Aint',
           'Aint_diff': 'MPI_Aint'}
OBJECTS = {'Comm': 'MPI_Comm', 'Type': 'MPI_Datatype', 'File': 'MPI_File',
           'Errhandler': 'MPI_Errhandler', 'Group': 'MPI_Group',
           'Info': 'MPI_Info', 'Message': 'MPI_Message', 'Op': 'MPI_Op',
           'Request': 'MPI_Request', 'Session': 'MPI_Session',
           'Win': 'MPI_Win'}


def returns(function):
    """The C type of what the function returns."""
    thing, _, conversion = function.name.rpartition('_')
    if thing in OBJECTS:
        if conversion in ('f2c', 'fromint'):
            return OBJECTS[thing]
        if conversion == 'c2f':
            return 'MPI_Fint'
    return RETURNS.get(function.name, 'int')


def base(p, large):
    """The type of one element."""
    if p.kind in HANDLES:
        return HANDLES[p.kind]
    if p.kind in STRUCTS:
        return STRUCTS[p.kind]
    if p.kind in POLY:
        return POLY[p.kind][large]
    if p.poly:
        return 'MPI_Count' if large else 'int'
    return SCALARS.get(p.kind, 'int')


def callback(p, large):
    name = CALLBACKS.get(p.name)
    if not name:  # comm_copy_attr_fn, win_errhandler_fn, …
        name = 'MPI_' + p.name[0].upper() + p.name[1:-len('fn')] + 'function'
    return name + ('_c' if large and p.poly else '')


def join(ctype, name):
    return f'{ctype} {name}' if not ctype.endswith('*') else f'{ctype}{name}'


def declare(p, large):
    """The parameter as it stands in a prototype."""
    if p.kind == 'VARARGS':
        return '...'
    if p.kind == 'PROFILE_LEVEL':
        return 'const int level'
    if p.kind == 'ARGUMENT_COUNT':
        return 'int *argc' if p.direction == 'inout' else 'int argc'
    if p.kind == 'ARGUMENT_LIST':
        return 'char ***argv' if p.direction == 'inout' else 'char *argv[]'
    if p.kind == 'STRING_ARRAY':
        return f'char *{p.name}[]'
    if p.kind == 'STRING_2DARRAY':
        return f'char **{p.name}[]'
    if p.kind.endswith('FUNCTION'):
        return join(callback(p, large) + ' *', p.name)
    if p.kind == 'STRING':
        return join('const char *' if p.direction == 'in' else 'char *', p.name)
    if p.kind in VOID:
        reads = p.direction == 'in' and p.kind == 'BUFFER' and not (
            p.special & {'no-intent', 'c-mutable'})
        const = 'const ' if reads or 'c-const' in p.special else ''
        return join(const + 'void *', p.name)
    const = 'const ' if p.direction == 'in' else ''
    if p.array is not None:
        if p.array == 'n,3':  # the ranges of groups; C has no const there
            return f'{base(p, large)} {p.name}[][3]'
        return f'{const}{base(p, large)} {p.name}[]'
    if p.kind in STRUCTS:
        return join(const + base(p, large) + ' *', p.name)
    if p.direction == 'in' and 'c-pointer' not in p.special:
        return join(base(p, large), p.name)
    return join(base(p, large) + ' *', p.name)
