#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
"""Writes a manual page for each function of functions.tsv that the library has:
synopsis in C and Fortran, arguments (arguments.tsv), errors (errors.tsv) and a sentence
(sentences.tsv).

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
TOOL_ERRORS = [  # the beginning of a kind, class, when
    ('CVAR_INDEX', 'MPI_T_ERR_INVALID_INDEX', 'there is no such variable'),
    ('PVAR_INDEX', 'MPI_T_ERR_INVALID_INDEX', 'there is no such variable'),
    ('CAT_INDEX', 'MPI_T_ERR_INVALID_INDEX', 'there is no such category'),
    ('EVENT_INDEX', 'MPI_T_ERR_INVALID_INDEX', 'there is no such event'),
    ('SOURCE_INDEX', 'MPI_T_ERR_INVALID_INDEX', 'there is no such source'),
    ('PVAR_SESSION', 'MPI_T_ERR_INVALID_SESSION', 'the session is not valid'),
    ('PVAR', 'MPI_T_ERR_INVALID_HANDLE', 'the handle is not valid'),
    ('CVAR', 'MPI_T_ERR_INVALID_HANDLE', 'the handle is not valid'),
    ('EVENT_REGISTRATION', 'MPI_T_ERR_INVALID_HANDLE', 'the registration is not valid'),
]
RECEIVES = re.compile(r'(I?[Ss]?e?n?d?[Rr]ecv|I?mrecv|Mrecv|Wait|Test|I?[Aa]ll|I?[Gg]ather|I?[Ss]catter|I?[Rr]educe|I?[Bb]cast)')


def rows(name):
    with open(os.path.join(table.HERE, name)) as lines:
        return [tuple(line.rstrip('\n').split('\t')) for line in lines
                if not line.startswith('#')]


def sentences():
    return dict(rows('sentences.tsv'))


class Words:
    """The lines of arguments.tsv and errors.tsv; which of them were of use."""

    def __init__(self):
        self.arguments = [(re.compile(f), re.compile(a), direction, words)
                          for f, a, direction, words in rows('arguments.tsv')]
        self.errors = [(re.compile(f), code, when)
                       for f, code, when in rows('errors.tsv')]
        self.used, self.missing = set(), []

    def about(self, f, p):
        for line in self.arguments:
            if line[0].fullmatch(f.name) and line[1].fullmatch(p.name) and \
                    line[2] in ('*', p.direction):
                self.used.add(line)
                return line[3]
        self.missing.append(f'{p.name} of {f.name}')
        return '?'

    def errors_of(self, f):
        found = [line for line in self.errors if line[0].fullmatch(f.name)]
        self.used.update(found)
        return [(code, when) for _, code, when in found]

    def unused(self):
        return [line[0].pattern + ' ' + getattr(line[1], 'pattern', line[1])
                for line in self.arguments + self.errors
                if line not in self.used]


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


def errors_of(f, words):
    """Pairs of class and when; those of the tools' interface have classes of their own."""
    kinds = {plain(p.kind) for p in f.parameters
             if p.direction != 'out' or plain(p.kind) == 'BUFFER'}
    if f.name.startswith('T_'):
        return list(dict(
            [(c, w) for k, c, w in TOOL_ERRORS if k in kinds] +
            words.errors_of(f)).items())
    found = [(c, w) for k, c, w in ERRORS
             if any(x.startswith(k) for x in kinds - {'INFO_VALUE_LENGTH'})]
    if any(p.name == 'root' for p in f.parameters):
        found.append(('MPI_ERR_ROOT', 'the root is no rank of the communicator'))
    elif any(plain(p.kind).startswith('RANK') and p.direction == 'in'
             for p in f.parameters):
        found.append(('MPI_ERR_RANK', 'a rank is not in the group'))
    found += words.errors_of(f)
    found.append(('MPI_ERR_ARG', 'another argument is not possible'))
    if RECEIVES.match(f.name) and not f.name.endswith('_init'):
        found.append(('MPI_ERR_TRUNCATE',
                      'a message is longer than its buffer'))
    if f.chapter in ('03', '04', '06', '08') and 'COMMUNICATOR' in kinds or \
            f.name.startswith(('Wait', 'Test')):
        found.append(('MPI_ERR_PROC_ABORTED',
                      'a rank that is needed has died or was lost'))
    return found


def handling(f):
    if f.name.startswith('T_'):
        return ' of the tools\' interface, which calls no error handler:'
    if f.name.startswith('File_'):
        return (': the error handler of the file is called first, which returns the code '
                'unless it was changed.\nError classes:')
    return (': the error handler of the object is called first, and unless it was '
            'changed it ends the job.\nError classes:')


def relatives(f, names):
    """Other forms of the same, for SEE ALSO."""
    base = re.sub(r'(_init|_begin|_end)$', '', f.name)
    if base.startswith('I') and base[1:2].islower() and \
            base[1:2].upper() + base[2:] in names:
        base = base[1:2].upper() + base[2:]
    if base.startswith('File_i') and 'File_' + base[6:] in names:
        base = 'File_' + base[6:]
    forms = [base, 'I' + base[0].lower() + base[1:], base + '_init', base + '_begin', base + '_end',
             re.sub('^File_', 'File_i', base)]
    kind = base.split('_')[0]
    if kind in OBJECTS or kind == 'T':
        forms += [kind + '_free', kind + '_create', kind + '_dup']
    return [x for x in dict.fromkeys(forms) if x in names and x != f.name]


def quoted(text):
    return text.replace('\\', '\\e').replace('-', '\\-')


def page(f, sentence, words, names, extension):
    name = 'MPI_' + f.name
    lines = ['.\\" SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0',
             '.\\" Made from mpi/bindings/functions.tsv.',
             f'.TH {name} {extension} "" "o2g" "O2G: MPI"', '.SH NAME']
    both = [name] + ([name + '_c'] if f.large else [])
    lines += [', '.join(both) + ' \\- ' + quoted(sentence), '.SH SYNOPSIS', '.nf',
              '.B #include <mpi.h>', '.PP']
    lines.append(quoted(mpi_h.prototype(f, 'MPI_', False)))
    if f.large:
        lines.append(quoted(mpi_h.prototype(f, 'MPI_', True)))
    arguments = ', '.join(p.name for p in f.small_parameters())
    if f.chapter not in ('15', '19', '20') or f.name == 'Pcontrol':
        ierror = ', ierror' if arguments else 'ierror'
        lines += ['.PP', 'use mpi_f08', f'call {name}({arguments}{ierror})']
    lines += ['.fi', '.SH DESCRIPTION',
              quoted(sentence[0].upper() + sentence[1:]) + '.']
    if f.large:
        lines += ['The form that ends with _c takes counts of type MPI_Count.']
    if f.parameters:
        lines += ['.SH ARGUMENTS']
        for p in f.parameters:
            lines += ['.TP', f'.IR {p.name} " ({p.direction})"',
                      quoted(words.about(f, p)) + '.']
    lines += ['.SH RETURN VALUE']
    if c_types.returns(f) == 'int':
        lines += ['MPI_SUCCESS, or an error code' + handling(f)]
        for code, when in errors_of(f, words):
            lines += ['.TP', f'.B {code}', quoted(when) + '.']
    else:
        lines += ['What was asked for.']
    lines += ['.SH SEE ALSO']
    lines += [f'.BR MPI_{x} ({extension}),' for x in relatives(f, names)]
    lines += ['.BR mpiexec (1),', '.BR o2g (7)']
    return '\n'.join(lines) + '\n'


def main():
    directory = sys.argv[1]
    extension = sys.argv[2] if len(sys.argv) > 2 else '3'
    known, missing, words = sentences(), [], Words()
    os.makedirs(directory, exist_ok=True)
    functions = [f for f in table.functions()
                 if f.state == 'yes' and not f.fortran_only]
    there = {f.name for f in functions}
    for f in functions:
        sentence = words_of(f.name, known)
        if not sentence:
            missing.append(f.name)
            continue
        table.write_if_changed(
            os.path.join(directory, f'MPI_{f.name}.{extension}'),
            page(f, sentence, words, there, extension))
        if f.large:
            table.write_if_changed(
                os.path.join(directory, f'MPI_{f.name}_c.{extension}'),
                f'.so man3/MPI_{f.name}.{extension}\n')
    names = {f.name for f in table.functions()}
    strange = sorted(set(known) - names)
    if missing or strange:
        sys.exit(f'sentences.tsv lacks {missing} and has {strange}, which '
                 'functions.tsv has not')
    if words.missing or words.unused():
        sys.exit(f'arguments.tsv lacks {words.missing}; of no use in it or in '
                 f'errors.tsv: {words.unused()}')


if __name__ == '__main__':
    main()
