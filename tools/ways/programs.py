# SPDX-License-Identifier: Apache-2.0
"""The test programs of a folder, and their cases."""
import dataclasses
import fnmatch
import os
import pathlib
import struct

from . import cases
from .machine import LIST_LIMIT, NATIVE

PT_INTERP = 3  # elf(5): only programs name a loader, shared libraries and code objects do not
ET_EXEC = 2


@dataclasses.dataclass
class Program:
    path: pathlib.Path
    name: str      # its path below the folder that was searched
    folder: str    # the name's folder, '.' for the top
    framework: type


def is_elf_program(content):
    """Whether a 64-bit ELF file is a program."""
    if len(content) < 64 or content[4] != 2:
        return False
    kind, = struct.unpack_from('<H', content, 16)
    offset, = struct.unpack_from('<Q', content, 32)
    size, count = struct.unpack_from('<HH', content, 54)
    heads = range(offset, min(offset + size * count, len(content) - 3), max(size, 1))
    return kind == ET_EXEC or any(struct.unpack_from('<I', content, head)[0] == PT_INTERP for head in heads)


def find(folder, filters):
    """The programs below `folder` whose name a filter's first part matches, in the order of their names."""
    found = []
    for path in sorted(folder.rglob('*')):
        name = path.relative_to(folder).as_posix()
        wanted = not filters or any(fnmatch.fnmatchcase(name, one.partition(':')[0]) for one in filters)
        if not wanted or not path.is_file() or not os.access(path, os.X_OK):
            continue
        content = path.read_bytes()
        if content[:2] == b'#!' or content[:4] == b'\x7fELF' and is_elf_program(content):
            found.append(Program(path, name, pathlib.PurePath(name).parent.as_posix(), cases.framework(content)))
    return found


def cases_of(program, machine, filters):
    """The names of the cases that the filters want. A program that lists none is one case, whose
    verdict says why."""
    if program.framework.listing is None:
        return ['']
    run = machine.run(NATIVE, [program.path, *program.framework.listing], program.path.parent, LIST_LIMIT)
    found = program.framework.cases(run.out)
    if not found:
        return [cases.LIST]
    patterns = [case or '*' for name, _, case in (one.partition(':') for one in filters)
                if fnmatch.fnmatchcase(program.name, name)]
    return [one for one in found if not patterns or any(fnmatch.fnmatchcase(one, p) for p in patterns)]
