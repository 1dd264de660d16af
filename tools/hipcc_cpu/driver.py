# SPDX-License-Identifier: Apache-2.0
"""The hipcc-cpu command: HIP source to a CPU code object (--genco), an object file (-c) or a program."""
import os
import shutil
import struct
import subprocess
import sys
import tempfile

from . import ir, note

USAGE = """usage: hipcc-cpu [options] SOURCES [objects] [-o OUTPUT]
  hipcc-cpu prog.hip -o prog       a program: host part and kernels for the host's cores
  hipcc-cpu -c prog.hip -o prog.o  an object file; link with g++ ... -lamdhip64
  hipcc-cpu --genco k.hip -o k.co  kernels only, for hipModuleLoad
  --hip-lib DIR     where libamdhip64.so is (linked with -rpath DIR)
  --hip-include DIR directory that has hip/hip_runtime.h
  --rtc             as hiprtc compiles: hip_runtime.h is included first, no host part (implies --genco)
  --names FILE      with --rtc: mangled names of the variables __hipr_name_expr_<number> point to
  --emit-bundle     with --genco: write an offload bundle instead of the bare code object
  -march=CPU        for kernels (default x86-64); other options go to clang as they are
The clang to use: $HIPCC_CPU_CLANG, else clang++-14, else clang++. HIPCC_CPU_VERBOSE=1 shows its commands."""

SOURCE_SUFFIXES = ('.hip', '.cpp', '.cc', '.cxx', '.cu', '.c++')
BUNDLE_IDS = ('host-x86_64-unknown-linux--', 'hipv4-x86_64-unknown-linux-gnu--x86_64-cpu')
PAGE_BYTES = 4096
DEVICE_SOURCES = ('printf', 'math', 'support')  # in link order: each may need the next


class Failed(Exception):
    """A tool failed and has said why."""

    def __init__(self, code):
        super().__init__('exit status %d' % code)
        self.code = code


class Options:
    def __init__(self):
        self.output = None
        self.sources, self.objects, self.passed, self.linked, self.hip_includes = [], [], [], [], []
        self.genco = self.compile_only = self.rtc = self.bundle = False
        self.hip_lib, self.names, self.march, self.optimize = None, None, 'x86-64', '-O2'


def parse(arguments):
    """The command line, or None when help was asked for."""
    options, rest = Options(), list(arguments)
    flags = {'--genco': 'genco', '-c': 'compile_only', '--rtc': 'rtc', '--emit-bundle': 'bundle'}
    values = {'-o': 'output', '--hip-lib': 'hip_lib', '--names': 'names'}
    while rest:
        word = rest.pop(0)
        if word in ('-h', '--help'):
            return None
        if word in flags:
            setattr(options, flags[word], True)
        elif word in values:
            setattr(options, values[word], rest.pop(0))
        elif word == '--hip-include':
            options.hip_includes.append(rest.pop(0))
        elif word.startswith('-march='):
            options.march = word[len('-march='):]
        elif word.startswith(('--offload-arch=', '--amdgpu-target=', '--gpu-architecture=')):
            continue  # there is one target
        elif word.startswith('-O'):
            options.optimize = word
        elif word.startswith(('-l', '-L', '-Wl,')) or word in ('-shared', '-pthread', '-rdynamic'):
            options.linked.append(word)
        elif word in ('-I', '-D', '-U', '-isystem', '-include', '-idirafter', '-x', '-Xclang', '-iquote'):
            options.passed += [word, rest.pop(0)]
        elif word.startswith('-'):
            options.passed.append(word)
        elif word.endswith(SOURCE_SUFFIXES):
            options.sources.append(word)
        else:
            options.objects.append(word)
    options.genco = options.genco or options.rtc
    return options


def tool(name, variable):
    for candidate in (os.environ.get(variable), name + '-14', name):
        if candidate and shutil.which(candidate):
            return candidate
    print('hipcc-cpu: %s is not installed (Debian: clang-14, llvm-14)' % name, file=sys.stderr)
    raise Failed(127)


def device_directory():
    """Where the device support lies: beside an installed or built command, or in the source tree."""
    here = os.path.dirname(os.path.abspath(__file__))
    for place in ('../device', '../../share/hip-remote/device', '../../worker/runtime/cpu/kernel/device'):
        path = os.path.normpath(os.path.join(here, place))
        if os.path.exists(os.path.join(path, 'support.cc')):
            return path
    print('hipcc-cpu: the device support files are missing beside ' + here, file=sys.stderr)
    raise Failed(2)


def run(command):
    if os.environ.get('HIPCC_CPU_VERBOSE'):
        print(' '.join(command), file=sys.stderr)
    code = subprocess.run(command, stdin=subprocess.DEVNULL, check=False).returncode
    if code:
        raise Failed(code if code > 0 else 1)


class Compiler:
    def __init__(self, options, work):
        self.options, self.work = options, work
        self.clang = tool('clang++', 'HIPCC_CPU_CLANG')
        self.link_ir = tool('llvm-link', 'HIPCC_CPU_LLVM_LINK')

    def path(self, name):
        return os.path.join(self.work, name)

    def language(self):
        words = ['-x', 'hip', '-nogpulib', '--rocm-path=/usr', '-Wno-unused-command-line-argument']
        for directory in self.options.hip_includes:
            words += ['-isystem', directory]
        return words + self.options.passed

    def support(self):
        """The device support as IR; built once at installation, or now."""
        directory, found = device_directory(), []
        for name in DEVICE_SOURCES:
            ready = os.path.join(directory, name + '.bc')
            if not os.path.exists(ready):
                ready = self.path(name + '.bc')
            if not os.path.exists(ready):
                compile_support(self.clang, os.path.join(directory, name + '.cc'), ready)
            found.append(ready)
        return found

    def rtc_prelude(self):
        """What hiprtc sources see without asking. The macro comes after the header, which would
        otherwise leave out the system's own types."""
        prelude = self.path('prelude.h')
        with open(prelude, 'w', encoding='utf-8') as file:
            file.write('#include <hip/hip_runtime.h>\n#define __HIPCC_RTC__ 1\n')
        return prelude

    def code_object(self, source, output):
        """Kernels of one source as an ELF shared object with its metadata note."""
        optimize, device, host = self.options.optimize, self.path('device.ll'), self.path('cpu.ll')
        head = ['-include', self.rtc_prelude()] if self.options.rtc else []
        # Not optimised for the GPU; -O1 at least, so that clang leaves out "optnone".
        run([self.clang, '--cuda-device-only', '--offload-arch=gfx90a', '-S', '-emit-llvm',
             '-O1' if optimize == '-O0' else optimize, '-Xclang', '-disable-llvm-passes'] + head
            + self.language() + [source, '-o', device])
        with open(device, encoding='utf-8') as file:
            names, text = ir.take_names(file.read())
        if self.options.names:
            with open(self.options.names, 'w', encoding='utf-8') as file:
                file.writelines('%d %s\n' % pair for pair in names)
        text, kernels = ir.rewrite(text)
        with open(host, 'w', encoding='utf-8') as file:
            file.write(text)
        linked, body, notes = self.path('linked.bc'), self.path('body.o'), self.path('note.s')
        run([self.link_ir, '--only-needed', '--internalize', host] + self.support() + ['-o', linked])
        run([self.clang, optimize, '-march=' + self.options.march, '-fPIC', '-ffunction-sections',
             '-fno-math-errno', '-Wno-override-module', '-c', linked, '-o', body])
        with open(body, 'rb') as file:
            words = note.read_section(file.read(), ir.TABLE_SECTION)
        metadata = note.describe(kernels, struct.unpack('<%dQ' % (len(words) // 8), words))
        with open(notes, 'w', encoding='utf-8') as file:
            file.write(note.assembly(metadata))
        extra = [os.path.join(device_directory(), 'half.c')] if ' half' in text else []
        run([self.clang, '-x', 'c', '-O2', '-fPIC'] + extra + ['-x', 'none', '-shared', '-nostartfiles',
             '-Wl,-z,defs', '-Wl,-Bsymbolic', '-Wl,--gc-sections', '-Wl,--build-id=none', body, notes,
             '-lm', '-o', output])

    def bundle(self, code_object, output):
        with open(code_object, 'rb') as file:
            image = file.read()
        with open(output, 'wb') as file:
            file.write(make_bundle(image))

    def object_file(self, source, output):
        """Host part with the kernels embedded and registered, as an ordinary object file."""
        code, fat = self.path('code.co'), self.path('fat.bin')
        self.code_object(source, code)
        self.bundle(code, fat)
        run([self.clang, '--cuda-host-only', self.options.optimize, '-fPIC', '-Xclang',
             '-fcuda-include-gpubinary', '-Xclang', fat] + self.language() + ['-c', source, '-o', output])


def make_bundle(image):
    """An uncompressed offload bundle: an empty host entry and `image`."""
    header = b'__CLANG_OFFLOAD_BUNDLE__' + struct.pack('<Q', len(BUNDLE_IDS))
    for place, (name, size) in enumerate(zip(BUNDLE_IDS, (0, len(image)))):
        header += struct.pack('<QQQ', PAGE_BYTES, size, len(name)) + name.encode()
        assert place < 2
    return header.ljust(PAGE_BYTES, b'\0') + image


def compile_support(clang, source, output):
    run([clang, '-std=c++17', '-O2', '-fPIC', '-fno-exceptions', '-fno-rtti', '-fno-math-errno',
         '-ffp-contract=off', '-fno-stack-protector', '-emit-llvm', '-c', source, '-o', output])


def build(options, work):
    compiler = Compiler(options, work)
    if options.genco:
        target = compiler.path('out.co')
        compiler.code_object(options.sources[0], target)
        if options.bundle:
            compiler.bundle(target, options.output or 'a.co')
        else:
            shutil.copyfile(target, options.output or 'a.co')
        return
    if options.compile_only:
        default = os.path.splitext(os.path.basename(options.sources[0]))[0] + '.o'
        compiler.object_file(options.sources[0], options.output or default)
        return
    objects = []
    for i, source in enumerate(options.sources):
        objects.append(compiler.path('host%d.o' % i))
        compiler.object_file(source, objects[-1])
    library = []
    if options.hip_lib:
        library = ['-L' + options.hip_lib, '-Wl,-rpath,' + os.path.abspath(options.hip_lib)]
    run([compiler.clang] + objects + options.objects + library + options.linked
        + ['-lamdhip64', '-o', options.output or 'a.out'])


def main(arguments):
    options = parse(arguments)
    if options is None or (not options.sources and not options.objects):
        print(USAGE, file=sys.stderr if options else sys.stdout)
        return 2 if options else 0
    if (options.genco or options.compile_only) and len(options.sources) != 1:
        print('hipcc-cpu: --genco and -c take exactly one source', file=sys.stderr)
        return 2
    try:
        with tempfile.TemporaryDirectory(prefix='hipcc-cpu-') as work:
            build(options, work)
    except Failed as failure:
        return failure.code
    except ir.Unsupported as problem:
        print('hipcc-cpu: %s: %s' % (options.sources[0], problem), file=sys.stderr)
        return 1
    return 0
