# SPDX-License-Identifier: Apache-2.0
"""The hipcc-cpu command: HIP source to code objects (--genco), an object file (-c) or a program, with kernels
for the host's cores, for NVIDIA GPUs or for both."""
import os
import re
import shutil
import struct
import subprocess
import sys
import tempfile

from . import ir, note, nvptx

USAGE = """usage: hipcc-cpu [options] SOURCES [objects] [-o OUTPUT]
  hipcc-cpu prog.hip -o prog       a program: host part and kernels for the host's cores
  hipcc-cpu -c prog.hip -o prog.o  an object file; link with g++ ... -lamdhip64
  hipcc-cpu --genco k.hip -o k.co  kernels only, for hipModuleLoad
  --hip-lib DIR     where libamdhip64.so is (linked with -rpath DIR)
  --hip-include DIR directory that has hip/hip_runtime.h
  --rtc             as hiprtc compiles: hip_runtime.h is included first, no host part (implies --genco)
  --names FILE      with --rtc: mangled names of the variables __hipr_name_expr_<number> point to
  --offload-arch=T,...  targets of the kernels, also repeated: x86_64-cpu (the default), sm_70 to sm_86 (PTX, which
                    newer GPUs take as well). AMD's gfx* are passed over: clang's own hipcc makes code for them
  --emit-bundle     with --genco: an offload bundle also of one target, instead of the bare code object
  -march=CPU        for kernels on cores (default x86-64); other options go to clang as they are
The clang to use: $HIPCC_CPU_CLANG, else clang++-14, else clang++. HIPCC_CPU_VERBOSE=1 shows its commands."""

SOURCE_SUFFIXES = ('.hip', '.cpp', '.cc', '.cxx', '.cu', '.c++')
CPU_TARGET = 'x86_64-cpu'
HOST_ID = 'host-x86_64-unknown-linux--'
CPU_ID = 'hipv4-x86_64-unknown-linux-gnu--' + CPU_TARGET
NVIDIA_ID = 'hipv4-nvptx64-nvidia-cuda--'
ARCH_OPTION = re.compile(r'^--(?:offload-arch|amdgpu-target|gpu-architecture)=(.*)$')
PAGE_BYTES = 4096
DEVICE_SOURCES = ('printf', 'math', 'support')  # in link order: each may need the next
NVIDIA_SOURCES = ('ocml', 'special', 'elementary', 'support')


class Failed(Exception):
    """A tool failed and has said why."""

    def __init__(self, code):
        super().__init__('exit status %d' % code)
        self.code = code


class Options:
    def __init__(self):
        self.output = None
        self.sources, self.objects, self.passed, self.linked, self.hip_includes = [], [], [], [], []
        self.targets = []
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
        elif ARCH_OPTION.match(word):
            add_targets(options.targets, ARCH_OPTION.match(word).group(1))
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
    options.targets = options.targets or [CPU_TARGET]
    return options


def add_targets(targets, names):
    for name in names.split(','):
        if name.startswith(('sm_', 'compute_')):
            target = nvptx.choose(name)
            if target is None:
                print('hipcc-cpu: no code can be made for %s; NVIDIA GPUs from sm_70 on' % name, file=sys.stderr)
                raise Failed(2)
        elif name == CPU_TARGET:
            target = name
        elif name.startswith('gfx') or name in ('', 'native'):
            continue
        else:
            print('hipcc-cpu: unknown target ' + name, file=sys.stderr)
            raise Failed(2)
        if target not in targets:
            targets.append(target)


def tool(name, variable):
    for candidate in (os.environ.get(variable), name + '-14', name):
        if candidate and shutil.which(candidate):
            return candidate
    print('hipcc-cpu: %s is not installed (Debian: clang-14, llvm-14)' % name, file=sys.stderr)
    raise Failed(127)


CPU_SUPPORT = ('../device', '../../share/hip-remote/device', '../../worker/runtime/cpu/kernel/device')
NVIDIA_SUPPORT = ('../device/nvptx', '../../share/hip-remote/device/nvptx', '../../worker/runtime/cuda/device')


def device_directory(places=CPU_SUPPORT):
    """Where the device support lies: beside an installed or built command, or in the source tree."""
    here = os.path.dirname(os.path.abspath(__file__))
    for place in places:
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

    def support(self, directory, names, compile_one):
        """The device support as IR; built once at installation, or now."""
        found = []
        for name in names:
            ready = os.path.join(directory, name + '.bc')
            if not os.path.exists(ready):
                ready = self.path('%s-%s.bc' % (compile_one.__name__, name))
            if not os.path.exists(ready):
                compile_one(self.clang, os.path.join(directory, name + '.cc'), ready)
            found.append(ready)
        return found

    def rtc_prelude(self):
        """What hiprtc sources see without asking. The macro comes after the header, which would
        otherwise leave out the system's own types."""
        prelude = self.path('prelude.h')
        with open(prelude, 'w', encoding='utf-8') as file:
            file.write('#include <hip/hip_runtime.h>\n#define __HIPCC_RTC__ 1\n')
        return prelude

    def device_ir(self, source, target, first=(), last=()):
        """What clang makes of the device code, as text; for AMD's `target`, whose headers know it."""
        optimize, device = self.options.optimize, self.path('device.ll')
        head = ['-include', self.rtc_prelude()] if self.options.rtc else []
        # Not optimised for that GPU; -O1 at least, so that clang leaves out "optnone".
        run([self.clang, '--cuda-device-only', '--offload-arch=' + target, '-S', '-emit-llvm',
             '-O1' if optimize == '-O0' else optimize, '-Xclang', '-disable-llvm-passes', *first]
            + head + self.language() + [*last, source, '-o', device])
        with open(device, encoding='utf-8') as file:
            names, text = ir.take_names(file.read())
        if self.options.names:
            with open(self.options.names, 'w', encoding='utf-8') as file:
                file.writelines('%d %s\n' % pair for pair in names)
        return text

    def cpu_code_object(self, source, output):
        """Kernels of one source as an ELF shared object with its metadata note."""
        text, kernels = ir.rewrite(self.device_ir(source, 'gfx90a'))
        host = self.path('cpu.ll')
        with open(host, 'w', encoding='utf-8') as file:
            file.write(text)
        linked, body, notes = self.path('linked.bc'), self.path('body.o'), self.path('note.s')
        run([self.link_ir, '--only-needed', '--internalize', host]
            + self.support(device_directory(), DEVICE_SOURCES, compile_support) + ['-o', linked])
        run([self.clang, self.options.optimize, '-march=' + self.options.march, '-fPIC', '-ffunction-sections',
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

    def ptx(self, source, target, output):
        """Kernels of one source as PTX text for NVIDIA GPUs from `target` on."""
        prelude, rewritten = self.path('nvptx.h'), self.path('nvptx.ll')
        with open(prelude, 'w', encoding='utf-8') as file:
            file.write(nvptx.PRELUDE)
        text, _ = nvptx.rewrite(self.device_ir(
            source, nvptx.WAVE32_TARGET, ['-fno-builtin-printf', '-include', prelude], ['-g0']))
        with open(rewritten, 'w', encoding='utf-8') as file:
            file.write(text)
        linked, made = self.path('linked.ll'), self.path('made.ptx')
        run([self.link_ir, '-S', '--only-needed', '--internalize', rewritten]
            + self.support(device_directory(NVIDIA_SUPPORT), NVIDIA_SOURCES, compile_nvidia_support)
            + ['-o', linked])
        with open(linked, encoding='utf-8') as file:
            text = nvptx.strip_targets(file.read())
        with open(linked, 'w', encoding='utf-8') as file:
            file.write(text)
        optimize = self.options.optimize
        run([self.clang, '-cc1', '-triple', nvptx.TRIPLE, '-target-cpu', target, '-target-feature',
             '+ptx%d' % nvptx.PTX_VERSIONS[target], '-O1' if optimize == '-O0' else optimize, '-S', '-x', 'ir',
             linked, '-o', made])
        with open(made, encoding='utf-8') as file:
            text = file.read()
        if nvptx.missing(text):
            raise ir.Unsupported('NVIDIA GPUs have no ' + ', '.join(nvptx.missing(text)))
        with open(output, 'w', encoding='utf-8') as file:
            file.write(text)

    def code_object(self, source, target, output):
        if target == CPU_TARGET:
            self.cpu_code_object(source, output)
        else:
            self.ptx(source, target, output)

    def bundle(self, source, output):
        """An offload bundle with a code object for every target."""
        entries = [(HOST_ID, b'')]
        for target in self.options.targets:
            code = self.path('code-' + target)
            self.code_object(source, target, code)
            with open(code, 'rb') as file:
                image = file.read()
            if target == CPU_TARGET:
                entries.append((CPU_ID, image))
            else:
                entries.append((NVIDIA_ID + target, image + b'\0'))  # text that is loaded ends with a zero
        with open(output, 'wb') as file:
            file.write(make_bundle(entries))

    def object_file(self, source, output):
        """Host part with the kernels embedded and registered, as an ordinary object file."""
        fat = self.path('fat.bin')
        self.bundle(source, fat)
        run([self.clang, '--cuda-host-only', self.options.optimize, '-fPIC', '-Xclang',
             '-fcuda-include-gpubinary', '-Xclang', fat] + self.language() + ['-c', source, '-o', output])


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


def compile_support(clang, source, output):
    run([clang, '-std=c++17', '-O2', '-fPIC', '-fno-exceptions', '-fno-rtti', '-fno-math-errno',
         '-ffp-contract=off', '-fno-stack-protector', '-emit-llvm', '-c', source, '-o', output])


def compile_nvidia_support(clang, source, output):
    run([clang, '-x', 'cuda', '--cuda-device-only', '--cuda-gpu-arch=sm_70', '-nocudainc', '-nocudalib',
         '-Wno-unknown-cuda-version', '-Xclang', '-target-feature', '-Xclang', '+ptx63', '-std=c++17', '-O2',
         '-fno-builtin', '-fno-exceptions', '-fno-rtti', '-fno-math-errno', '-ffp-contract=off',
         '-I' + os.path.dirname(source), '-I' + device_directory(), '-emit-llvm', '-c', source, '-o', output])


def build(options, work):
    compiler = Compiler(options, work)
    if options.genco:
        made = compiler.path('out.co')
        if options.bundle or len(options.targets) > 1:
            compiler.bundle(options.sources[0], made)
        else:
            compiler.code_object(options.sources[0], options.targets[0], made)
        shutil.copyfile(made, options.output or 'a.co')
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
    try:
        options = parse(arguments)
    except Failed as failure:
        return failure.code
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
