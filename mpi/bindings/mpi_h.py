#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
"""Writes mpi.h: mpi.h.in with the prototypes of what functions.tsv says is
there, as MPI_ and as PMPI_ names.

usage: mpi_h.py OUTPUT
"""
import os
import sys

import c_types
import table

CHAPTERS = {
    '03': 'point-to-point', '04': 'partitioned', '05': 'datatypes',
    '06': 'collectives', '07': 'groups, communicators, caching',
    '08': 'topologies', '09': 'environment', '10': 'info',
    '11': 'starting, ending, sessions, processes', '12': 'one-sided',
    '13': 'external interfaces', '14': 'files', '15': 'tools',
    '16': 'deprecated', '19': 'other languages', '20': 'the ABI',
}
WIDTH = 79


def wrap(text):
    """Breaks a prototype at its commas; the rest is indented by a tab."""
    lines, line = [], ''
    for word in text.split(' '):
        if line and len(line.expandtabs(8)) + 1 + len(word) > WIDTH:
            lines.append(line)
            line = '\t' + word
        else:
            line = line + ' ' + word if line else word
    return '\n'.join(lines + [line])


def prototype(function, prefix, large):
    parameters = (function.parameters if large else
                  function.small_parameters())
    declared = [c_types.declare(p, large) for p in parameters]
    name = prefix + function.name + ('_c' if large else '')
    # a declaration may be broken between parameters only
    glued = ', '.join(d.replace(' ', '\0') for d in declared) or 'void'
    head = f'{c_types.returns(function)}\0{name}({glued});'
    return wrap(head).replace('\0', ' ')


def section(functions, prefix):
    lines, chapter = [], None
    for f in functions:
        if f.state != 'yes' or f.fortran_only:
            continue
        if f.chapter != chapter:
            chapter = f.chapter
            lines += ['', f'/* {CHAPTERS[chapter]} */']
        lines.append(prototype(f, prefix, False))
        if f.large:
            lines.append(prototype(f, prefix, True))
    return '\n'.join(lines[1:])


def main():
    output = sys.argv[1]
    functions = table.functions()
    with open(os.path.join(table.HERE, 'mpi.h.in')) as header:
        text = header.read()
    text = text.replace('@MPI@', section(functions, 'MPI_'))
    text = text.replace('@PMPI@', section(functions, 'PMPI_'))
    with open(output + '.new', 'w') as header:
        header.write(text)
    os.replace(output + '.new', output)


if __name__ == '__main__':
    main()
