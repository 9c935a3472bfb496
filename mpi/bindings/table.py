# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
"""functions.tsv as Python objects, for the generators of C and Fortran."""
import os
import re
from dataclasses import dataclass, field

HERE = os.path.dirname(os.path.abspath(__file__))


@dataclass
class Parameter:
    kind: str
    name: str
    direction: str  # in, out, inout
    array: str = None  # what stands between [ and ], None for no array
    special: frozenset = frozenset()

    @property
    def poly(self):
        return self.kind.startswith('POLY')


@dataclass
class Function:
    chapter: str
    name: str  # without MPI_
    state: str
    parameters: list = field(default_factory=list)

    @property
    def large(self):
        """Has a form with counts of type MPI_Count."""
        return any(p.poly for p in self.parameters)

    @property
    def fortran_only(self):
        return self.chapter == 'fortran'

    def small_parameters(self):
        return [p for p in self.parameters if 'large-only' not in p.special]


def parse_parameter(text):
    kind, name, direction, *special = text.split()
    name, _, array = name.partition('[')
    array = array[:-1] if array else ('' if '[]' in text else None)
    return Parameter(kind, name, direction, array, frozenset(special))


def functions(path=None):
    """All of the table, in its order."""
    found = []
    with open(path or os.path.join(HERE, 'functions.tsv')) as table:
        for number, line in enumerate(table, 1):
            if line.startswith('#'):
                continue
            fields = line.rstrip('\n').split('\t')
            if len(fields) != 4 or fields[2] not in ('yes', 'later'):
                raise SystemExit(f'functions.tsv:{number}: want chapter, name, '
                                 f'yes or later, parameters; got: {line!r}')
            chapter, name, state, parameters = fields
            found.append(Function(
                chapter, name, state,
                [parse_parameter(p) for p in parameters.split('; ') if p]))
    return found


def constants(path=None):
    """(name, value text, C type or None) of every #define MPI_ in mpi.h.in."""
    found = []
    with open(path or os.path.join(HERE, 'mpi.h.in')) as header:
        for line in header:
            m = re.match(r'#define (MPI_\w+)\s+(.*\S)', line)
            if not m:
                continue
            name, value = m.groups()
            cast = re.match(r'\(\(([^)]*)\)(.*)\)$', value)
            if cast:
                found.append((name, cast.group(2), cast.group(1).strip()))
            else:
                found.append((name, value.strip('()'), None))
    return found


def write_if_changed(path, text):
    """So that what depends on a file is not built again without need."""
    if os.path.exists(path):
        with open(path) as old:
            if old.read() == text:
                return
    with open(path + '.new', 'w') as new:
        new.write(text)
    os.replace(path + '.new', path)
