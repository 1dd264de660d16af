# SPDX-License-Identifier: Apache-2.0
"""The words of a hipcc-cpu command: ours are taken out, clang's are left as they are, in their order.

All that is known of clang's options here is which of them take the next word as their value (checked against
clang's own list by tests/unit/hipcc_cpu/commandline_test.py), so that no value is taken for a source. What the
words mean is clang's to say (jobs.py)."""
import os
import re
import shlex

from . import nvptx
from .failure import Failed

HIP_SUFFIXES = ('.hip', '.cpp', '.cc', '.cxx', '.cu', '.c++', '.C', '.CPP', '.cp', '.CXX')
CPU_TARGET = 'x86_64-cpu'
ARCH_OPTION = re.compile(r'^--?(?:offload-arch|amdgpu-target|gpu-architecture|cuda-gpu-arch)=(.*)$')
MAX_RESPONSE_DEPTH = 16  # response files that name response files

# Options whose value is the next word.
SEPARATE = set('''
-o -x -I -D -U -L -l -F -B -T -u -z -e -A -G -b -t -arch -target -include -include-pch -imacros -isystem -isysroot
-iquote -iprefix -iwithprefix -iwithprefixbefore -iwithsysroot -idirafter -iframework -iframeworkwithsysroot
-cxx-isystem -isystem-after -ivfsoverlay -vfsoverlay -stdlib++-isystem -MF -MT -MQ -MJ -Xclang -Xclangas -Xlinker
-Xassembler -Xpreprocessor -Xanalyzer -Xopenmp-target -Xcuda-ptxas -Xcuda-fatbinary -Xoffload-linker -mllvm -mmlir
-mthread-model -meabi -rpath -Tbss -Tdata -Ttext -install_name -framework -init -param -serialize-diagnostics
-working-directory -resource-dir -aux-info -dumpdir -dependency-dot -dependency-file -module-dependency-dir
-ccc-gcc-name -ccc-install-dir -ccc-arcmt-migrate -ccc-objcmt-migrate -arcmt-migrate-report-output -dsym-dir
-fmodules-user-build-path -iapinotes-modules -gen-cdb-fragment-path -hlsl-entry -darwin-target-variant
-darwin-target-variant-triple -fexperimental-openacc-macro-override
--sysroot --output --language --include --imacros --define-macro --undefine-macro --include-directory
--include-directory-after --include-prefix --include-with-prefix --include-with-prefix-after
--include-with-prefix-before --library-directory --for-linker --for-assembler --assert --config --entry --force-link
--prefix --param --resource --std --rtlib --stdlib --unwindlib --serialize-diagnostics --system-header-prefix
--no-system-header-prefix --analyzer-output --driver-mode --optimize
'''.split())
OUR_FLAGS = {'--genco': 'genco', '--rtc': 'rtc', '--rtc-link': 'rtc_link', '--emit-bundle': 'bundle',
             '-fgpu-rdc': 'relocatable', '--cuda-device-only': 'device_only', '--offload-device-only': 'device_only',
             '--cuda-host-only': 'host_only', '--offload-host-only': 'host_only'}
OUR_VALUES = {'--hip-lib': 'hip_lib', '--names': 'names'}
# What clang's driver would make of them is for its own offloading, which ours takes the place of.
DROPPED = re.compile(r'^(--hip-link|--(no-)?offload-new-driver|-fno-gpu-rdc|-parallel-jobs=.*|--offload-compress'
                     r'|-foffload-lto.*|-fno-offload-lto|-save-temps.*|--save-temps.*|-mprintf-kind=.*)$')
# One compiler pass, and no object: the host's, unless the device's is asked for.
ONE_PASS = {'-E', '-S', '-M', '-MM', '-fsyntax-only', '-emit-llvm', '--analyze', '-emit-ast', '--precompile',
            '--preprocess', '--assemble', '--dependencies', '--user-dependencies'}
# Clang answers these, and compiles nothing.
QUESTION = re.compile(r'^(--version|-dumpmachine|-dumpversion|--?print-.*|-###|-ccc-print-.*|--help-hidden'
                      r'|--autocomplete=.*|-cc1.*|--target-help)$')


class CommandLine:
    """What was asked for. `words` are clang's; sources stand in them behind -x hip."""

    def __init__(self):
        self.words, self.sources, self.targets = [], [], []
        self.genco = self.rtc = self.rtc_link = self.bundle = self.relocatable = False
        self.device_only = self.host_only = False
        self.help = self.question = self.one_pass = self.compile_only = self.inputs = self.verbose = False
        self.assembly = self.links_runtime = False
        self.output = self.hip_lib = self.names = self.language = None
        self.bitcode = []  # of --rtc-link: the modules
        self.march = 'x86-64'


def expand(arguments, depth=0):
    """The words with response files (@FILE) in place."""
    words = []
    for word in arguments:
        if not word.startswith('@') or not os.path.isfile(word[1:]):
            words.append(word)
            continue
        if depth == MAX_RESPONSE_DEPTH:
            raise Failed('response files are nested more than %d deep: %s' % (MAX_RESPONSE_DEPTH, word))
        try:
            with open(word[1:], encoding='utf-8', errors='surrogateescape') as file:
                inside = shlex.split(file.read())
        except ValueError as problem:
            raise Failed('response file %s: %s' % (word[1:], problem)) from None
        words += expand(inside, depth + 1)
    return words


def target_of(name, options):
    """The target that `name` asks for, or None where it is passed over. Raises where there is no such code."""
    if name == CPU_TARGET:
        return name
    if name.startswith(('sm_', 'compute_')):
        target = nvptx.choose(name)
        if target is None:
            raise Failed('no code can be made for %s: NVIDIA GPUs from sm_70 on' % name)
        return target
    if name in ('', 'native') or (options.rtc and name.startswith('gfx')):
        return None  # whatever the device at hand is; hiprtc's callers name one of AMD's when they mean that
    if name.startswith('gfx'):
        raise Failed('no code can be made for %s: hipcc-cpu makes kernels for %s and, as PTX, for %s; AMD\'s GPUs '
                     'want AMD\'s compiler (HIPCC_CPU_TARGETS=%s compiles for that, whatever is asked for)'
                     % (name, CPU_TARGET, ', '.join(sorted(nvptx.PTX_VERSIONS)), CPU_TARGET))
    raise Failed('unknown target ' + name)


def set_targets(options, asked):
    forced = os.environ.get('HIPCC_CPU_TARGETS')
    for name in (forced or ','.join(asked)).split(','):
        target = target_of(name.strip(), options)
        if target and target not in options.targets:
            options.targets.append(target)
    options.targets = options.targets or [CPU_TARGET]


def language_of(word):
    """What a source is compiled as where no -x says it; None: clang knows by its name."""
    if word.endswith('.hip') or word.endswith('.cu'):
        return 'hip'
    if word.endswith(HIP_SUFFIXES):
        return 'hip' if os.environ.get('HIP_COMPILE_CXX_AS_HIP', '1') != '0' else 'c++'
    return 'c' if word.endswith('.c') else None


def add_input(options, word):
    options.inputs = True
    if options.rtc_link:
        options.bitcode.append(word)
        return
    language = options.language or language_of(word)
    if options.language or language is None:
        options.words.append(word)
    else:
        options.words += ['-x', language, word, '-x', 'none']
    if language in ('hip', 'cuda'):
        options.sources.append(word)


def take_option(options, word, value, asked):
    """One option, with its value where that is a word of its own."""
    arch = ARCH_OPTION.match(word)
    if arch:
        asked.append(arch.group(1))
        return
    if word in OUR_FLAGS:
        setattr(options, OUR_FLAGS[word], True)
        return
    if word in OUR_VALUES:
        setattr(options, OUR_VALUES[word], value)
        return
    if DROPPED.match(word):
        return
    if word == '--hip-include':
        word = '-isystem'
    elif word in ('-x', '--language'):
        options.language = None if value == 'none' else value
    elif word.startswith('-x') and word != '-x':
        options.language = None if word == '-xnone' else word[2:]
    elif word in ('-o', '--output'):
        options.output = value
    elif word.startswith('-o') and not word.startswith(('-objc', '-object')):
        options.output = word[2:]
    elif word.startswith('--output='):
        options.output = word[len('--output='):]
    elif word.startswith('-march='):
        options.march = word[len('-march='):]
    elif word in ('-c', '--compile'):
        options.compile_only = True
    elif word == '-v':
        options.verbose = True
    elif word in ONE_PASS:
        options.one_pass = True
        options.assembly = options.assembly or word in ('-S', '--assemble')
    elif QUESTION.match(word):
        options.question = True
    options.words += [word] if value is None else [word, value]


def refuse_foreign(words):
    """What goes past HIP to an AMD GPU, such as its assembly."""
    text = ' '.join(words)
    target = re.search(r'(?:^| )(?:-target |--target=|--target )(amdgcn\S*)', text)
    if target:
        processor = re.search(r'(?:^| )-mcpu=(\S+)', text)
        raise Failed('no code can be made for %s: AMD\'s GPUs want AMD\'s compiler'
                     % ' '.join([target.group(1)] + ([processor.group(1)] if processor else [])))


def parse(arguments):
    options, asked, rest = CommandLine(), [], expand(arguments)
    rest.reverse()
    while rest:
        word = rest.pop()
        if word in ('-h', '--help'):
            options.help = True
        elif not word.startswith('-') or word == '-':
            add_input(options, word)
        elif word in SEPARATE or word in OUR_VALUES or word == '--hip-include' or word.startswith('-Xarch_'):
            if not rest:
                raise Failed('%s wants a value' % word)
            take_option(options, word, rest.pop(), asked)
        else:
            options.inputs = options.inputs or word.startswith(('-l', '-Wl,'))
            take_option(options, word, None, asked)
    if '-l' in options.words or '-Xlinker' in options.words:
        options.inputs = True
    options.genco = options.genco or options.rtc or (
        options.device_only and (options.assembly or not options.one_pass))
    refuse_foreign(options.words)
    plain = {'-r', '--emit-static-lib', '-no-hip-rt', '--no-hip-rt'}
    options.links_runtime = not plain & set(options.words)
    set_targets(options, asked)
    return options
