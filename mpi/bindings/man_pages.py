#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
"""Writes a manual page for each function of functions.tsv that the library has:
synopsis in C and Fortran, arguments, errors, and a sentence (sentences.tsv).

usage: man_pages.py DIRECTORY [EXTENSION]

The pages are called MPI_Send.EXTENSION; the extension is 3 unless given.
"""
import os
import re
import sys

import c_types
import mpi_h
import table

OBJECTS = {
    'Comm': 'communicator', 'Type': 'datatype', 'Win': 'window', 'File': 'file',
    'Session': 'session', 'Errhandler': 'error handler', 'Group': 'group',
    'Info': 'info object', 'Message': 'message', 'Op': 'operation',
    'Request': 'request',
}

# What follows a rule: pattern, words with {object} and {base}.
RULES = [
    (r'(\w+?)_c2f', 'turn the handle of {a} {object} into an integer of Fortran'),
    (r'(\w+?)_f2c', 'turn an integer of Fortran into the handle of {a} {object}'),
    (r'(\w+?)_toint', 'turn the handle of {a} {object} into an integer'),
    (r'(\w+?)_fromint', 'turn an integer into the handle of {a} {object}'),
    (r'(\w+?)_create_keyval', 'make a key for attributes of {object}s'),
    (r'(\w+?)_free_keyval', 'give up a key for attributes of {object}s'),
    (r'(\w+?)_delete_attr', 'delete an attribute of {a} {object}'),
    (r'(\w+?)_get_attr', 'get an attribute of {a} {object}'),
    (r'(\w+?)_set_attr', 'set an attribute of {a} {object}'),
    (r'(\w+?)_get_name', 'get the name of {a} {object}'),
    (r'(\w+?)_set_name', 'give {a} {object} a name, which messages of tools and errors show'),
    (r'(\w+?)_get_info', 'get the hints of {a} {object}'),
    (r'(\w+?)_set_info', 'give hints for {a} {object}'),
    (r'(\w+?)_create_errhandler', 'make an error handler for {object}s out of a function'),
    (r'(\w+?)_get_errhandler', 'get the error handler of {a} {object}'),
    (r'(\w+?)_set_errhandler', 'set the error handler of {a} {object}'),
    (r'(\w+?)_call_errhandler', 'call the error handler of {a} {object}'),
    (r'(\w+?)_attach_buffer', 'give MPI memory for buffered sends of {a} {object}'),
    (r'(\w+?)_detach_buffer', 'take that memory of {a} {object} back when all of its messages are sent'),
    (r'(\w+?)_flush_buffer', 'wait until all buffered messages of {a} {object} are sent'),
    (r'(\w+?)_iflush_buffer', 'start to wait until all buffered messages of {a} {object} are sent'),
]

# What a parameter is: by its kind without POLY, by the longest beginning.
KINDS = {
    'BUFFER': 'the data', 'C_BUFFER': 'an address', 'COMMUNICATOR': 'a communicator',
    'DATATYPE': 'the type of the elements', 'XFER_NUM_ELEM': 'how many elements',
    'DTYPE_NUM_ELEM': 'how many elements', 'NUM_BYTES': 'how many bytes',
    'RANK': 'a rank of the communicator', 'TAG': 'the tag of the message',
    'REQUEST': 'a request', 'STATUS': 'what is known about the message; MPI_STATUS_IGNORE: nobody asks',
    'MESSAGE': 'a message that a probe has taken', 'LOGICAL': 'true or false',
    'OPERATION': 'the operation', 'GROUP': 'a group', 'WINDOW': 'a window',
    'WINDOW_SIZE': 'its size in bytes', 'FILE': 'a file', 'SESSION': 'a session',
    'INFO': 'hints, or MPI_INFO_NULL', 'STRING': 'a text', 'ERRHANDLER': 'an error handler',
    'ERROR_CODE': 'an error code', 'ERROR_CLASS': 'an error class', 'KEYVAL': 'a key for attributes',
    'ATTRIBUTE_VAL': 'the value', 'FUNCTION': 'a function', 'EXTRA_STATE': 'passed on to the function',
    'OFFSET': 'an offset in the file', 'DISPLACEMENT': 'a displacement',
    'RMA_DISPLACEMENT': 'a displacement in the window', 'ARRAY_LENGTH': 'how many there are',
    'INDEX': 'an index', 'COMM_SIZE': 'how many ranks', 'PARTITION': 'a part of the message',
    'THREAD_LEVEL': 'what threads may do', 'ASSERT': 'what the program promises, or 0',
    'DIMENSION': 'a dimension', 'COORDINATE': 'a coordinate', 'DEGREE': 'how many neighbors',
    'WEIGHT': 'the weight of an edge', 'COLOR': 'ranks of one color come together',
    'KEY': 'decides the order of the ranks', 'LOCK_TYPE': 'MPI_LOCK_SHARED or MPI_LOCK_EXCLUSIVE',
    'VERSION': 'a version', 'ACCESS_MODE': 'how to open the file',
}

ERRORS = [  # kind, class, when
    ('COMMUNICATOR', 'MPI_ERR_COMM', 'a communicator is not valid, or was freed'),
    ('DATATYPE', 'MPI_ERR_TYPE', 'a datatype is not valid, was freed or not committed'),
    ('XFER_NUM_ELEM', 'MPI_ERR_COUNT', 'a count is negative'),
    ('BUFFER', 'MPI_ERR_BUFFER', 'a buffer is NULL though there is data, or two overlap that must not'),
    ('TAG', 'MPI_ERR_TAG', 'a tag is negative or above MPI_TAG_UB'),
    ('OPERATION', 'MPI_ERR_OP', 'an operation is not valid, or does not fit the datatype'),
    ('REQUEST', 'MPI_ERR_REQUEST', 'a request is not valid, or was freed'),
    ('MESSAGE', 'MPI_ERR_REQUEST', 'a message is not valid, or was received already'),
    ('GROUP', 'MPI_ERR_GROUP', 'a group is not valid, or was freed'),
    ('WINDOW', 'MPI_ERR_WIN', 'a window is not valid, or was freed'),
    ('FILE', 'MPI_ERR_FILE', 'a file is not valid, or was closed'),
    ('SESSION', 'MPI_ERR_SESSION', 'a session is not valid, or was closed'),
    ('INFO', 'MPI_ERR_INFO', 'an info object is not valid, or was freed'),
    ('KEYVAL', 'MPI_ERR_KEYVAL', 'a key is not valid, or is of another kind of object'),
    ('ERRHANDLER', 'MPI_ERR_ERRHANDLER', 'an error handler is not valid, or is of another kind of object'),
]
RECEIVES = re.compile(r'(I?[Ss]?e?n?d?[Rr]ecv|I?mrecv|Mrecv|Wait|Test|I?[Aa]ll|I?[Gg]ather|I?[Ss]catter|I?[Rr]educe|I?[Bb]cast)')


def sentences():
    found = {}
    with open(os.path.join(table.HERE, 'sentences.tsv')) as lines:
        for line in lines:
            if line.startswith('#'):
                continue
            name, words = line.rstrip('\n').split('\t')
            found[name] = words
    return found


def article(word):
    return 'an' if word[0] in 'aeiou' else 'a'


def by_rule(name, known):
    for pattern, words in RULES:
        m = re.fullmatch(pattern, name)
        if m and m.group(1) in OBJECTS:
            what = OBJECTS[m.group(1)]
            return words.format(object=what, a=article(what))
    if name.startswith('File_i') and 'File_' + name[6:] in known:
        return f'start to {known["File_" + name[6:]]}'
    for end, words in (('_init', 'make a persistent request for MPI_{base}'),
                       ('_begin', 'begin what MPI_{base} does'),
                       ('_end', 'wait for what MPI_{base}_begin has begun')):
        if name.endswith(end) and name[:-len(end)] in known:
            return words.format(base=name[:-len(end)])
    base = name[1:2].upper() + name[2:]
    if name.startswith('I') and base in known:
        return f'start what MPI_{base} does, and return a request for it'
    return None


def words_of(name, known):
    return known.get(name) or by_rule(name, known)


def plain(kind):
    return kind[4:] if kind.startswith('POLY') else kind


def about(p):
    if p.name == 'root':
        return 'the rank that has, or gets, the data of all'
    kind = plain(p.kind)
    if kind == 'BUFFER' and p.direction == 'out':
        return 'where the data goes'
    best = max((k for k in KINDS if kind.startswith(k)), key=len, default=None)
    words = KINDS[best] if best else kind.lower().replace('_', ' ')
    return f'an array: {words}' if p.array is not None else words


def errors_of(f):
    kinds = {plain(p.kind) for p in f.parameters if p.direction != 'out'}
    found = [(c, w) for k, c, w in ERRORS
             if any(x.startswith(k) for x in kinds)]
    if any(p.name == 'root' for p in f.parameters):
        found.append(('MPI_ERR_ROOT', 'the root is no rank of the communicator'))
    elif any(plain(p.kind).startswith('RANK') and p.direction == 'in'
             for p in f.parameters):
        found.append(('MPI_ERR_RANK', 'a rank is not in the group'))
    found.append(('MPI_ERR_ARG', 'another argument is not possible'))
    if RECEIVES.match(f.name) and not f.name.endswith('_init'):
        found.append(('MPI_ERR_TRUNCATE',
                      'a message is longer than its buffer'))
    if f.chapter in ('03', '04', '06', '08') and 'COMMUNICATOR' in kinds or \
            f.name.startswith(('Wait', 'Test')):
        found.append(('MPI_ERR_PROC_ABORTED',
                      'a rank that is needed has died or was lost'))
    return found


def quoted(text):
    return text.replace('\\', '\\e').replace('-', '\\-')


def page(f, words, extension):
    name = 'MPI_' + f.name
    lines = ['.\\" SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0',
             '.\\" Made from mpi/bindings/functions.tsv.',
             f'.TH {name} {extension} "" "o2g" "O2G: MPI"', '.SH NAME']
    names = [name] + ([name + '_c'] if f.large else [])
    lines += [', '.join(names) + ' \\- ' + quoted(words), '.SH SYNOPSIS', '.nf',
              '.B #include <mpi.h>', '.PP']
    lines.append(quoted(mpi_h.prototype(f, 'MPI_', False)))
    if f.large:
        lines.append(quoted(mpi_h.prototype(f, 'MPI_', True)))
    arguments = ', '.join(p.name for p in f.small_parameters())
    if f.chapter not in ('15', '19', '20') or f.name == 'Pcontrol':
        ierror = ', ierror' if arguments else 'ierror'
        lines += ['.PP', 'use mpi_f08', f'call {name}({arguments}{ierror})']
    lines += ['.fi', '.SH DESCRIPTION',
              quoted(words[0].upper() + words[1:]) + '.']
    if f.large:
        lines += ['The form that ends with _c takes counts of type MPI_Count.']
    if f.parameters:
        lines += ['.SH ARGUMENTS']
        for p in f.parameters:
            lines += ['.TP', f'.IR {p.name} " ({p.direction})"',
                      quoted(about(p)) + '.']
    lines += ['.SH RETURN VALUE']
    if c_types.returns(f) == 'int':
        lines += ['MPI_SUCCESS, or an error code: the error handler of the object '
                  'is called first, and unless it was changed it ends the job.']
        lines += ['Error classes:']
        for code, when in errors_of(f):
            lines += ['.TP', f'.B {code}', quoted(when) + '.']
    else:
        lines += ['What was asked for.']
    lines += ['.SH SEE ALSO', '.BR mpiexec (1),', '.BR o2g (7)']
    return '\n'.join(lines) + '\n'


def main():
    directory = sys.argv[1]
    extension = sys.argv[2] if len(sys.argv) > 2 else '3'
    known, missing = sentences(), []
    os.makedirs(directory, exist_ok=True)
    functions = [f for f in table.functions()
                 if f.state == 'yes' and not f.fortran_only]
    for f in functions:
        words = words_of(f.name, known)
        if not words:
            missing.append(f.name)
            continue
        table.write_if_changed(
            os.path.join(directory, f'MPI_{f.name}.{extension}'),
            page(f, words, extension))
        if f.large:
            table.write_if_changed(
                os.path.join(directory, f'MPI_{f.name}_c.{extension}'),
                f'.so man3/MPI_{f.name}.{extension}\n')
    names = {f.name for f in table.functions()}
    strange = sorted(set(known) - names)
    if missing or strange:
        sys.exit(f'sentences.tsv lacks {missing} and has {strange}, which '
                 'functions.tsv has not')


if __name__ == '__main__':
    main()
