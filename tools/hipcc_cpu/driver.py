# SPDX-License-Identifier: Apache-2.0
"""The hipcc-cpu command: HIP source to programs, objects and code objects, with kernels for the host's cores, for
NVIDIA GPUs or for both.

Clang's own driver says what the command line means (jobs.py). Its jobs for the host run as they are; between them,
for every HIP source, the device code goes its own way (device.py) into the bundle that clang's job embeds."""
import os
import re
import shutil
import subprocess
import sys
import tempfile

from . import commandline, dependencies, device, ir, relocatable
from .failure import Failed
from .jobs import Runner, find_clang, words_of

LANGUAGE = ['-nogpulib', '--rocm-path=/usr', '-Wno-unused-command-line-argument', '-O2', '-fPIC']
LIBRARY_FOLDERS = ('lib', 'lib64', 'lib/x86_64-linux-gnu')
ROCM_ROOT = 'hip-remote/rocm'  # in the folder of the library (cmake/TfHipPackage.cmake)
USAGE_ERROR = 2
# What sources for AMD's hiprtc see without including it, as far as HIP's headers here have it.
RTC_HEADERS = ('hip_runtime.h', 'hip_fp16.h', 'hip_bfloat16.h', 'hip_complex.h', 'hip_math_constants.h')

# Those that are for sources only which mention a word: HIP 5's operators of complex numbers are such of float2 as well,
# which has its own.
RTC_MENTIONS = {'hip_complex.h': 'omplex'}


def usage():
    """The text of --help, made from docs/reference/reference.toml."""
    with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), 'usage.txt'), encoding='utf-8') as file:
        return file.read()


def default_library():
    """The folder with our libamdhip64.so in the prefix that this file is in, or None."""
    prefix = os.path.normpath(os.path.join(os.path.dirname(os.path.abspath(__file__)), '../../..'))
    for folder in LIBRARY_FOLDERS:
        if os.path.exists(os.path.join(prefix, folder, 'libamdhip64.so')):
            return os.path.join(prefix, folder)
    return None


def noted_headers():
    """The folder with HIP's headers that hip-remote was built with (TF_HIP_INCLUDE), if not the system's, or None."""
    try:
        with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), 'hip_include'), encoding='utf-8') as file:
            return file.read().strip()
    except OSError:
        return None


def language():
    """What clang gets before the words of the command line. Headers that those or the system name come first."""
    headers = noted_headers()
    return LANGUAGE + (['-idirafter', headers] if headers else [])


def host_words(options):
    words = language() + options.words
    folder = options.hip_lib or default_library()
    if not options.links_runtime or options.compile_only or options.one_pass:
        return words
    if folder:
        words = words + ['-L' + folder, '-Wl,--enable-new-dtags,-rpath,' + os.path.abspath(folder)]
    return words + ['-lamdhip64']


def wants_wrapper(options):
    """Whether clang's wrapper for HIP stands before the sources. It does not before hiprtc's, which have no C library,
    nor where the command line says no."""
    return not options.rtc and not {'-nogpuinc', '-nobuiltininc', '-nostdinc'}.intersection(options.words)


class Build:
    """One command line at work in a folder of its own."""

    def __init__(self, options, runner, work):
        self.options, self.runner, self.work = options, runner, work
        self.compiler = None
        self.waiting = []   # device jobs of the source whose host job comes next
        self.objects = {}   # of -fgpu-rdc: {object file: its device code}

    def ask(self, words):
        architectures = []
        if self.options.sources:
            architectures = ['--offload-arch=' + a
                             for a in sorted({device.amd_target(t) for t in self.options.targets})]
        if '-' in self.options.words:
            self.runner.standard_input = sys.stdin.buffer.read()
        listed = self.runner.ask(architectures + words, self.work)
        if any(job.program == 'clang-linker-wrapper' for job in listed):
            listed = self.runner.ask(architectures + ['--no-offload-new-driver'] + words, self.work)
        for job in listed:
            if job.is_compiler() and job.value('-x') == 'hip':
                job.words[2:2] = device.header_words(job.words, wants_wrapper(self.options))
        optimize = [w for job in listed for w in job.words if job.is_compiler() and w.startswith('-O')]
        self.compiler = device.DeviceCompiler(self.runner, self.work, self.options.march,
                                              optimize[0] if optimize else '-O2')
        return listed

    def device_ir(self, job, target, dependency_files):
        """The IR of one device job; what it read is kept for the host's dependency file."""
        if job.value('-dependency-file'):
            dependency_files.append(self.compiler.path('device.d'))
            job.words = job.replaced('-dependency-file', dependency_files[-1])
        prelude = None
        if self.options.rtc:
            prelude = self.rtc_prelude()
        return self.compiler.compile(job, target, not self.options.relocatable, prelude)

    def rtc_prelude(self):
        """What hiprtc sources see without asking. The macro comes after the headers, which would
        otherwise leave out the system's own types."""
        prelude = self.compiler.path('prelude.h')
        asked = [name for name in RTC_HEADERS if RTC_MENTIONS.get(name, '') in self.rtc_text()]
        lines = ['#if __has_include(<hip/{0}>)\n#include <hip/{0}>\n#endif\n'.format(name) for name in asked]
        dependencies.write(prelude, ''.join(lines) + '#define __HIPCC_RTC__ 1\n')
        return prelude

    def rtc_text(self):
        """The source and the headers that came with it (rtc/compile_here.cc)."""
        folder, names = os.path.dirname(self.options.sources[0]), [self.options.sources[0]]
        for place, _, files in os.walk(os.path.join(folder, 'include')):
            names += [os.path.join(place, name) for name in files]
        texts = []
        for name in names:
            with open(name, encoding='utf-8', errors='surrogateescape') as file:
                texts.append(file.read())
        return '\n'.join(texts)

    def modules(self, jobs):
        """{target: IR text} of one source from its device jobs, and their dependency files."""
        found, files = {}, []
        for target in self.options.targets:
            for job in jobs:
                if job.value('-target-cpu') == device.amd_target(target):
                    found[target] = self.device_ir(job, target, files)
                    break
        return found, files

    def genco(self):
        if len(self.options.sources) != 1:
            raise Failed('--genco takes exactly one source')
        if self.options.assembly and self.options.targets == [commandline.CPU_TARGET]:
            raise Failed('no assembly is written of kernels for %s: --genco, then objdump -d' % commandline.CPU_TARGET)
        listed = self.ask(language() + ['--cuda-device-only'] + self.options.words)
        jobs = [job for job in listed if job.is_compiler() and job.is_device()]
        wanted = jobs[0].value('-dependency-file') if jobs else None
        modules, files = self.modules(jobs)
        if self.options.names:
            for target, text in modules.items():
                names, modules[target] = ir.take_names(text)
                dependencies.write(self.options.names, ''.join('%d %s\n' % pair for pair in names))
        if self.options.rtc and self.options.relocatable:
            made = self.bitcode(modules)
        else:
            made = self.code_objects(modules)
        shutil.copyfile(made, self.options.output or 'a.co')
        if wanted:
            shutil.copyfile(files[0], wanted)
            dependencies.merge(wanted, files[1:], self.work)

    def code_objects(self, modules):
        made = self.compiler.path('out.co')
        if self.options.bundle or len(modules) > 1:
            self.compiler.bundle(modules, made)
        else:
            for target, text in modules.items():
                self.compiler.code_object(text, target, made)
        return made

    def bitcode(self, modules):
        """hiprtc's -fgpu-rdc: the device's IR as clang made it, to be linked by --rtc-link."""
        if len(modules) != 1:
            raise Failed('--rtc -fgpu-rdc takes one target')
        made = self.compiler.path('out.bc')
        relocatable.link_files(self.compiler, [self.compiler.text_file(next(iter(modules.values())))], made)
        return made

    def rtc_link(self):
        """A code object of modules that --rtc -fgpu-rdc made."""
        if len(self.options.targets) != 1:
            raise Failed('--rtc-link takes one target')
        self.compiler = device.DeviceCompiler(self.runner, self.work, self.options.march, '-O2')
        whole = self.compiler.path('whole.ll')
        relocatable.link_files(self.compiler, self.options.bitcode, whole, ['-S'])
        with open(whole, encoding='utf-8', errors='surrogateescape') as file:
            made = self.code_objects({self.options.targets[0]: file.read()})
        shutil.copyfile(made, self.options.output or 'a.co')

    def host_job(self, job):
        """Clang's host compiler for a HIP source, once its device code is made."""
        modules, files = self.modules(self.waiting)
        self.waiting = []
        words = list(job.words)
        if self.options.relocatable:
            at = words.index('-fcuda-include-gpubinary')
            words[at:at + 2] = ['-fgpu-rdc']
        else:
            used = {t: m for t, m in modules.items() if device.has_code(m)}
            self.compiler.bundle(used, job.value('-fcuda-include-gpubinary'))
        self.runner.run(words)
        if self.options.relocatable:
            relocatable.embed(self.runner, job.value('-o'), modules, self.work)
        if job.value('-dependency-file') and files:
            dependencies.merge(job.value('-dependency-file'), files, self.work)

    def run(self):
        """All of clang's jobs, with the device's way in place of clang's own."""
        for job in self.ask(host_words(self.options)):
            if job.is_compiler() and job.is_device():
                self.waiting.append(job)
            elif job.is_device():
                continue
            elif job.is_compiler() and '-fcuda-include-gpubinary' in job.words:
                self.host_job(job)
            else:
                if not job.is_compiler() and job.value('-o') and '-r' not in job.words:
                    relocatable.link(self.compiler, job)
                self.runner.run(job.words)


def hip_version():
    """Of the headers that are used, as AMD's hipcc says it; None where there are none."""
    for folder in ('/usr/include', noted_headers()):
        path = os.path.join(folder or '', 'hip/hip_version.h')
        if os.path.exists(path):
            with open(path, encoding='utf-8') as file:
                found = dict(re.findall(r'#define HIP_VERSION_(MAJOR|MINOR|PATCH) (\d+)', file.read()))
            if len(found) == 3:
                return '%(MAJOR)s.%(MINOR)s.%(PATCH)s' % found
    return None


def release():
    """Of hip-remote, as the build has noted it."""
    with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), 'release'), encoding='ascii') as file:
        return file.read().strip()


def pass_on(clang, options):
    """Clang itself, for what it answers alone; with the host's part of HIP sources. Its exit status."""
    words = options.words
    if '--version' in words:
        if hip_version():
            print('HIP version: ' + hip_version())
        print('hipcc-cpu ' + release(), flush=True)
    if options.verbose and default_library() and hip_version():  # as CMake looks for it
        print('Found HIP installation: %s, version %s' % (os.path.join(default_library(), ROCM_ROOT), hip_version()),
              file=sys.stderr, flush=True)
    if options.sources:
        side = '--cuda-device-only' if options.device_only else '--cuda-host-only'
        words = host_words(options)
        words = [side, '--offload-arch=' + device.WAVE64_TARGET] + words
        asked = subprocess.run([clang, '-###'] + words, stdin=subprocess.DEVNULL, capture_output=True, check=False,
                               encoding='utf-8', errors='surrogateescape')
        words[2:2] = device.header_words(words_of(asked.stderr), wants_wrapper(options))
    return subprocess.run([clang] + words, check=False).returncode


def launch(arguments):
    """CMake's way to another compiler: `arguments` is a whole command line."""
    languages = [b for a, b in zip(arguments, arguments[1:]) if a == '-x']
    if 'hip' in languages or '-xhip' in arguments or '--hip-link' in arguments:
        options = [i for i, word in enumerate(arguments) if word.startswith('-')]
        return compile_all(arguments[options[0]:])
    if not arguments:
        raise Failed('--launcher wants a command')
    return subprocess.run(arguments, check=False).returncode


def compile_all(arguments):
    options = commandline.parse(arguments)
    if options.help or not arguments:
        print(usage(), end='', file=sys.stdout if options.help else sys.stderr)
        return 0 if options.help else USAGE_ERROR
    clang = find_clang()
    device_alone = options.genco or options.rtc_link
    if not device_alone and (options.question or not options.inputs or options.one_pass or options.host_only):
        return pass_on(clang, options)
    with tempfile.TemporaryDirectory(prefix='hipcc-cpu-') as work:
        build = Build(options, Runner(clang, options.verbose), work)
        try:
            (build.rtc_link if options.rtc_link else build.genco if options.genco else build.run)()
        except ir.Unsupported as problem:
            raise Failed('%s: %s' % (options.sources[0] if options.sources else 'device code', problem)) from None
    return 0


def main(arguments):
    try:
        if arguments[:1] == ['--launcher']:
            return launch(arguments[1:])
        return compile_all(arguments)
    except Failed as failure:
        if failure.said:
            print('hipcc-cpu: error: ' + failure.said, file=sys.stderr)
        return failure.code
    except OSError as problem:
        print('hipcc-cpu: error: %s' % problem, file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130
    except Exception as problem:  # a defect of ours: one line, and all of it where it is asked for
        if os.environ.get('HIPCC_CPU_VERBOSE'):
            raise
        print('hipcc-cpu: internal error (%s: %s); HIPCC_CPU_VERBOSE=1 shows where' % (type(problem).__name__, problem),
              file=sys.stderr)
        return 1
