# SPDX-License-Identifier: Apache-2.0
"""Device code: from clang's IR for an AMD GPU to code objects for the host's cores and PTX for NVIDIA GPUs."""
import os
import re
import shutil
import struct
import subprocess

from . import elf, ir, note, nvptx
from .commandline import CPU_TARGET
from .failure import Failed

HOST_ID = 'host-x86_64-unknown-linux--'
CPU_ID = 'hipv4-x86_64-unknown-linux-gnu--' + CPU_TARGET
NVIDIA_ID = 'hipv4-nvptx64-nvidia-cuda--'
WAVE64_TARGET = 'gfx90a'  # AMD's headers know it, and its waves are as wide as the CPU runtime's
PAGE_BYTES = 4096
BEFORE_SOURCES = ('hip/hipr_words.h', 'hip/hipr_old_headers.h', 'hip/hipr_heap_names.h')
CLANG_WRAPPER = '__clang_hip_runtime_wrapper.h'  # clang includes it by itself where it finds HIP's folders
WITHOUT_WRAPPER = 'hip/hipr_heap.h'
DEVICE_SOURCES = ('printf', 'images', 'math', 'rounded', 'integers', 'support')  # in link order: each may need the next
NVIDIA_SOURCES = ('images', 'ocml', 'rounded', 'special', 'elementary', 'support')
CPU_SUPPORT = ('../device', '../../share/hip-remote/device', '../../worker/runtime/cpu/kernel/device')
NVIDIA_SUPPORT = ('../device/nvptx', '../../share/hip-remote/device/nvptx', '../../worker/runtime/cuda/device')


def amd_target(target):
    """The GPU that clang compiles for on the way to `target`."""
    return WAVE64_TARGET if target == CPU_TARGET else nvptx.WAVE32_TARGET


def support_directory(places=CPU_SUPPORT):
    """Where the device support lies: beside an installed or built command, or in the source tree."""
    here = os.path.dirname(os.path.abspath(__file__))
    for place in places:
        path = os.path.normpath(os.path.join(here, place))
        if os.path.exists(os.path.join(path, 'support.cc')):
            return path
    raise Failed('the device support files are missing beside ' + here)


def header_words(clang_words, wrapper=True):
    """Words for clang that put our headers before HIP's (device/include), and what stands before every source. Like
    AMD's compiler it includes clang's wrapper, which gives kernels the C library's mathematics, unless `wrapper` says
    no. `clang_words` are those that it gets anyhow."""
    words, files = ['-isystem', os.path.join(support_directory(), 'include')], list(BEFORE_SOURCES)
    if CLANG_WRAPPER not in clang_words:
        folder = resource_directory(clang_words) if wrapper else ''
        words += ['-isystem', os.path.join(folder, 'include', 'cuda_wrappers')] if folder else []
        files.append(CLANG_WRAPPER if folder else WITHOUT_WRAPPER)
    # Found there, they are headers of the system, which -MM leaves out.
    return words + [word for file in files for word in ('-include', file)]


def resource_directory(clang_words):
    """Where clang's own headers lie, by the words that it gives its compiler; '' without any."""
    return next((after for word, after in zip(clang_words, clang_words[1:]) if word == '-resource-dir'), '')


def has_code(text):
    """Whether a module of device IR has anything that a program can name: kernels or variables."""
    return ' amdgpu_kernel ' in text or ' externally_initialized ' in text


def major_version(tool):
    """14 for a tool of LLVM 14; 0 if it does not say."""
    said = subprocess.run([tool, '--version'], capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL)
    found = re.search(r'version (\d+)', said.stdout)
    return int(found[1]) if found else 0


class DeviceCompiler:
    def __init__(self, runner, work, march, optimize):
        self.runner, self.work, self.march, self.optimize = runner, work, march, optimize
        self.made = 0

    def path(self, name):
        """A new file of ours."""
        self.made += 1
        return os.path.join(self.work, 'hipr%d-%s' % (self.made, name))

    def text_file(self, text):
        """A file with a module's text."""
        name = self.path('part.ll')
        with open(name, 'w', encoding='utf-8', errors='surrogateescape') as file:
            file.write(text)
        return name

    def support(self, directory, names, compile_one):
        """The device support as IR; built once at installation, or now."""
        found = []
        for name in names:
            ready = os.path.join(directory, name + '.bc')
            if not os.path.exists(ready):
                ready = os.path.join(self.work, '%s-%s.bc' % (compile_one.__name__, name))
            if not os.path.exists(ready):
                compile_one(self.runner, os.path.join(directory, name + '.cc'), ready)
            found.append(ready)
        return found

    def llvm_tool(self, name):
        """A tool of the LLVM that clang is of."""
        chosen = os.environ.get('HIPCC_CPU_' + name.upper().replace('-', '_'))
        if chosen:
            return chosen
        beside = os.path.join(os.path.dirname(os.path.realpath(shutil.which(self.runner.clang))), name)
        if shutil.which(beside):
            return beside
        # An older one cannot read what clang writes.
        wanted = major_version(self.runner.clang)
        for candidate in ('%s-%d' % (name, wanted), name):
            if shutil.which(candidate) and major_version(candidate) >= wanted:
                return candidate
        raise Failed('clang %d needs %s of LLVM %d or newer, which is not installed (Debian: llvm-%d)'
                     % (wanted, name, wanted, wanted), 127)

    def compile(self, job, target, whole_program=True, prelude=None):
        """What clang makes of the device code of one source, as text; `job` is its job for amd_target(target)."""
        words, made = [], self.path('device.ll')
        for word in job.words:
            if word == '-emit-obj':
                # Not optimised for that GPU; -O1 at least, so that clang leaves out "optnone".
                words += ['-emit-llvm', '-disable-llvm-passes']
            elif word == '-O0':
                words.append('-O1')
            elif target != CPU_TARGET and word.startswith(('-debug-info-kind=', '-dwarf-version=')):
                continue
            else:
                words.append(word)
        extra = ['-o', made] + ([] if whole_program else ['-fgpu-rdc'])
        if target != CPU_TARGET:
            prelude = self.path('nvptx.h')
            with open(prelude, 'w', encoding='utf-8') as file:
                file.write(nvptx.PRELUDE)
            extra.append('-fno-builtin-printf')
        if prelude:
            extra += ['-include', prelude]
        # The source is the last word, its language before it.
        self.runner.run(words[:-3] + extra + words[-3:])
        with open(made, encoding='utf-8') as file:
            return file.read()

    def cpu_code_object(self, text, output):
        """Kernels of one module as an ELF shared object with its metadata note."""
        rewritten, kernels = ir.rewrite(text)
        host, body, notes = self.path('cpu.ll'), self.path('body.o'), self.path('note.s')
        with open(host, 'w', encoding='utf-8') as file:
            file.write(rewritten)
        linked = self.path('linked.bc')
        self.runner.run([self.llvm_tool('llvm-link'), '--only-needed', '--internalize', host]
                        + self.support(support_directory(), DEVICE_SOURCES, compile_support) + ['-o', linked])
        self.runner.run([self.runner.clang, self.optimize, '-march=' + self.march, '-fPIC', '-ffunction-sections',
                         '-fno-math-errno', '-Wno-override-module', '-c', linked, '-o', body])
        with open(body, 'rb') as file:
            table = elf.read_section(file.read(), ir.TABLE_SECTION)
        metadata = note.describe(kernels, struct.unpack('<%dQ' % (len(table) // 8), table))
        with open(notes, 'w', encoding='utf-8') as file:
            file.write(note.assembly(metadata))
        extra = [os.path.join(support_directory(), 'half.c')] if ' half' in rewritten else []
        self.runner.run([self.runner.clang, '-x', 'c', '-O2', '-fPIC'] + extra + [
            '-x', 'none', '-shared', '-nostartfiles', '-Wl,-z,defs', '-Wl,-Bsymbolic', '-Wl,--gc-sections',
            '-Wl,--build-id=none', body, notes, '-lm', '-o', output])

    def ptx(self, text, target, output):
        """Kernels of one module as PTX text for NVIDIA GPUs from `target` on."""
        rewritten, linked, made = self.path('nvptx.ll'), self.path('linked.ll'), self.path('made.ptx')
        text, _ = nvptx.rewrite(text)
        with open(rewritten, 'w', encoding='utf-8') as file:
            file.write(text)
        self.runner.run([self.llvm_tool('llvm-link'), '-S', '--only-needed', '--internalize', rewritten]
                        + self.support(support_directory(NVIDIA_SUPPORT), NVIDIA_SOURCES, compile_nvidia_support)
                        + ['-o', linked])
        with open(linked, encoding='utf-8') as file:
            text = nvptx.strip_targets(file.read())
        with open(linked, 'w', encoding='utf-8') as file:
            file.write(text)
        self.runner.run([self.runner.clang, '-cc1', '-triple', nvptx.TRIPLE, '-target-cpu', target, '-target-feature',
                         '+ptx%d' % nvptx.PTX_VERSIONS[target], '-O1' if self.optimize == '-O0' else self.optimize,
                         '-S', '-x', 'ir', linked, '-o', made])
        with open(made, encoding='utf-8') as file:
            text = nvptx.with_sign_bits(file.read())
        if nvptx.missing(text):
            raise ir.Unsupported('NVIDIA GPUs have no ' + ', '.join(nvptx.missing(text)))
        with open(output, 'w', encoding='utf-8') as file:
            file.write(text)

    def code_object(self, text, target, output):
        if target == CPU_TARGET:
            self.cpu_code_object(text, output)
        else:
            self.ptx(text, target, output)

    def bundle(self, modules, output):
        """An offload bundle with a code object of every module, {target: text}. Without any, nothing but its head."""
        entries = [(HOST_ID, b'')]
        for target, text in modules.items():
            code = self.path('code')
            self.code_object(text, target, code)
            with open(code, 'rb') as file:
                image = file.read()
            if target == CPU_TARGET:
                entries.append((CPU_ID, image))
            else:
                entries.append((NVIDIA_ID + target, image + b'\0'))  # text that is loaded ends with a zero
        with open(output, 'wb') as file:
            file.write(make_bundle(entries))


def make_bundle(entries):
    """An uncompressed offload bundle of (id, image)."""
    header = b'__CLANG_OFFLOAD_BUNDLE__' + struct.pack('<Q', len(entries))
    body = b''
    for name, image in entries:
        body = body.ljust(-(-len(body) // PAGE_BYTES) * PAGE_BYTES, b'\0')
        header += struct.pack('<QQQ', PAGE_BYTES + len(body), len(image), len(name)) + name.encode()
        body += image
    assert len(header) <= PAGE_BYTES
    return header.ljust(PAGE_BYTES, b'\0') + body


def compile_support(runner, source, output):
    runner.run([runner.clang, '-std=c++17', '-O2', '-fPIC', '-fno-exceptions', '-fno-rtti', '-fno-math-errno',
                '-ffp-contract=off', '-fno-stack-protector', '-emit-llvm', '-c', source, '-o', output])


def compile_nvidia_support(runner, source, output):
    runner.run([runner.clang, '-x', 'cuda', '--cuda-device-only', '--cuda-gpu-arch=sm_70', '-nocudainc', '-nocudalib',
                '-Wno-unknown-cuda-version', '-Xclang', '-target-feature', '-Xclang', '+ptx63', '-std=c++17', '-O2',
                '-fno-builtin', '-fno-exceptions', '-fno-rtti', '-fno-math-errno', '-ffp-contract=off',
                '-I' + os.path.dirname(source), '-I' + support_directory(), '-emit-llvm', '-c', source, '-o', output])
