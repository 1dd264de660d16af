# SPDX-License-Identifier: Apache-2.0
"""-fgpu-rdc: device code that is linked across files. An object keeps the device's IR, as clang made it, in a section
that the linker leaves out of programs; before a program is linked, the IR of all its objects and archives becomes
one module, and its code objects what `__hip_fatbin` names in the host's code."""
import os
import re
import struct
import zlib

from . import elf
from .failure import Failed

SECTION = '.hipr_device_ir'
MAGIC = b'HIPRIR01'
HEAD = struct.Struct('<8sQQ')  # magic, bytes of the target's name, bytes of the compressed module
# Clang 17 and later add a name of the source to both, and define no handle.
FAT_BINARY = re.compile(r'^__hip_fatbin(_\w+)?$')
HANDLE = re.compile(r'^__hip_gpubin_handle_\w+$')
# Behind these in a linker's command stands a value, not an input.
LINKER_VALUES = {'-o', '-m', '-dynamic-linker', '-rpath', '-rpath-link', '-soname', '-h', '-T', '-z', '-e', '-u',
                 '-plugin', '-Map', '--version-script', '--dynamic-list'}


def embed(runner, path, modules, work):
    """Puts {target: text} into the object file `path`."""
    record = os.path.join(work, 'hipr-record')
    with open(record, 'wb') as file:
        for target, text in modules.items():
            packed = zlib.compress(text.encode('utf-8', 'surrogateescape'), 1)
            file.write(HEAD.pack(MAGIC, len(target), len(packed)) + target.encode() + packed)
    runner.run(['objcopy', '--add-section', '%s=%s' % (SECTION, record), '--set-section-flags',
                SECTION + '=noload,readonly,exclude', path])


def unpack(contents, path):
    """[(target, text)] of a section; `ld -r` puts several records behind each other."""
    found, at = [], 0
    while at < len(contents):
        try:
            magic, name, size = HEAD.unpack_from(contents, at)
            start = at + HEAD.size + name
            if magic != MAGIC or start + size > len(contents):
                raise ValueError('not a record')
            target = contents[at + HEAD.size:start].decode()
            found.append((target, zlib.decompress(contents[start:start + size]).decode('utf-8', 'surrogateescape')))
        except (struct.error, ValueError, zlib.error):
            raise Failed('%s: its device code (-fgpu-rdc) is damaged' % path) from None
        at = start + size
    return found


def inputs(words):
    """Files that a linker's command names: objects, archives, and what -l finds among archives."""
    folders = [w[2:] or n for w, n in zip(words, words[1:] + ['']) if w.startswith('-L')]
    found, previous = [], ''
    for word in words[1:]:
        if previous not in LINKER_VALUES:
            path = find_archive(word[2:], folders) if word.startswith('-l') and len(word) > 2 else word
            if path and not path.startswith('-') and os.path.isfile(path) and path not in found:
                found.append(path)
        previous = word
    return found


def find_archive(name, folders):
    """The archive that -lNAME means; none where a shared library comes first."""
    for folder in folders:
        for file in [name[1:]] if name.startswith(':') else ['lib%s.so' % name, 'lib%s.a' % name]:
            path = os.path.join(folder, file)
            if os.path.isfile(path):
                return path if path.endswith('.a') else None
    return None


class Linked:
    """Device code of all that a linker's command names."""

    def __init__(self, words):
        self.modules, self.symbols, self.first = {}, set(), None
        for path in inputs(words):
            with open(path, 'rb') as file:
                image = file.read()
            if SECTION.encode() not in image:
                continue
            for member in elf.members(image):
                if elf.is_object(member):
                    self.add(member, path)

    def add(self, image, path):
        for name, _, _, contents in elf.sections(image):
            if name != SECTION:
                continue
            self.first = self.first or path
            self.symbols |= elf.undefined_symbols(image)
            for target, text in unpack(contents, path):
                self.modules.setdefault(target, []).append(text)


def link(compiler, job):
    """Adds to a linker's job an object with the device code of its inputs, where they have any."""
    linked = Linked(job.words)
    if not linked.modules:
        return
    whole = {target: link_modules(compiler, texts) for target, texts in linked.modules.items()}
    bundle, source, made = compiler.path('fat.bin'), compiler.path('fat.s'), compiler.path('fat.o')
    compiler.bundle(whole, bundle)
    with open(source, 'w', encoding='utf-8') as file:
        file.write('.section .hip_fatbin,"a",@progbits\n.p2align 12\n' + labels(linked.symbols, FAT_BINARY))
        # One handle for all: whoever comes first registers the one module, with everybody's variables.
        file.write('.incbin "%s"\n.bss\n.p2align 3\n%s.zero 8\n' % (bundle, labels(linked.symbols, HANDLE)))
        file.write('.section .note.GNU-stack,"",@progbits\n')
    compiler.runner.run([compiler.runner.clang, '-c', source, '-o', made])
    first = next(i for i, w in enumerate(job.words) if i and (w == linked.first or w.startswith('-l')
                                                              or w.endswith(('.o', '.a'))))
    job.words.insert(first, made)


def labels(symbols, pattern):
    """Assembly that defines, here, those symbols that match."""
    return ''.join('.globl {0}\n.hidden {0}\n{0}:\n'.format(s) for s in sorted(symbols) if pattern.match(s))


def link_modules(compiler, texts):
    if len(texts) == 1:
        return texts[0]
    whole = compiler.path('whole.ll')
    link_files(compiler, [compiler.text_file(text) for text in texts], whole, ['-S'])
    with open(whole, encoding='utf-8', errors='surrogateescape') as file:
        return file.read()


def link_files(compiler, paths, output, words=()):
    """Modules, as text or bitcode, into one."""
    compiler.runner.run([compiler.llvm_tool('llvm-link'), *words, *paths, '-o', output])
