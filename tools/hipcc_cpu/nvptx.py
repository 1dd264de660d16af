# SPDX-License-Identifier: Apache-2.0
"""Rewrites the LLVM IR that clang makes of HIP device code for amdgcn into IR for NVIDIA GPUs, and knows
which PTX to make of it.

Why by way of amdgcn (gfx1030: waves of 32, as on NVIDIA's GPUs): AMD's own headers compile unchanged, as for
the host's cores (ir.py). What changes: address spaces go, except the one of shared memory; target intrinsics
become calls of worker/runtime/cuda/device; kernels get a PTX entry whose parameters are the source's; printf
becomes vprintf; atomics that are more than relaxed and of the device become PTX with its own order and scope.
"""
import re

from . import ir

WAVE32_TARGET = 'gfx1030'
LAYOUT = "e-i64:64-i128:128-v16:16-v32:32-n16:32:64"
TRIPLE = "nvptx64-nvidia-cuda"
# What LLVM 14 makes code for, with the PTX version asked for: the oldest that has the target and, for all,
# activemask (6.2) and sync shuffles; drivers from R410 (2018) on take 6.3.
PTX_VERSIONS = {'sm_70': 63, 'sm_72': 63, 'sm_75': 63, 'sm_80': 70, 'sm_86': 71}
# Functions that the driver provides when it loads PTX.
DRIVER_FUNCTIONS = {'vprintf', 'malloc', 'free', '__assertfail'}
# Defined by AMD's headers in terms of host calls; the device support or the driver has them instead.
REPLACED = {'__assert_fail', '__assertfail'}
# Seen before all else: as an ordinary function clang leaves the call of printf as it is written.
PRELUDE = 'extern "C" __attribute__((device)) int printf(const char*, ...);\n'
PTX_NAME = re.compile(r'^(?:[A-Za-z][\w$]*|[_$][\w$]+)$')
SHARED = 'addrspace(3)'
SCOPES = {'singlethread': 'cta', 'wavefront': 'cta', 'workgroup': 'cta', 'agent': 'gpu', '': 'sys'}
OPERATIONS = {'add': ('add', 'u'), 'sub': ('add', 'u'), 'fadd': ('add', 'f'), 'xchg': ('exch', 'b'),
              'and': ('and', 'b'), 'or': ('or', 'b'), 'xor': ('xor', 'b'), 'max': ('max', 's'),
              'min': ('min', 's'), 'umax': ('max', 'u'), 'umin': ('min', 'u')}
WIDTHS = {'i32': 32, 'i64': 64, 'float': 32, 'double': 64}
REGISTERS = {'i32': 'r', 'i64': 'l', 'float': 'f', 'double': 'd'}
ATOMIC_RMW = re.compile(r'^  (%\S+) = atomicrmw (?:volatile )?(\w+) (.+?)\* (.+), \3 (\S+)'
                        r'(?: syncscope\("([^"]*)"\))? (\w+)(?:, align \d+)?')
ATOMIC_SWAP = re.compile(r'^  (%\S+) = cmpxchg (?:weak )?(?:volatile )?(.+?)\* (.+), \2 (\S+), \2 (\S+)'
                         r'(?: syncscope\("([^"]*)"\))? (\w+) (\w+)(?:, align \d+)?')
ATOMIC_LOAD = re.compile(r'^  (%\S+) = load atomic (?:volatile )?(.+?), \2\* (.+?)'
                         r'(?: syncscope\("([^"]*)"\))? (unordered|monotonic|acquire|seq_cst), align \d+')
ATOMIC_STORE = re.compile(r'^  store atomic (?:volatile )?(\S+) (\S+), \1\* (.+?)'
                          r'(?: syncscope\("([^"]*)"\))? (unordered|monotonic|release|seq_cst), align \d+')
FENCE = re.compile(r'^  fence(?: syncscope\("([^"]*)"\))? (\w+)')
PRINTF = re.compile(r'^(  (?:%\S+ = )?)(?:tail |musttail |notail )?call i32 \(i8\*, \.\.\.\) @printf\(')


def choose(name):
    """The target to compile for when `name` is asked for, or None where there is none below it: PTX for an
    older GPU runs on a newer one."""
    wanted = re.match(r'^(?:sm|compute)_(\d+)[af]?$', name)
    if not wanted:
        return None
    fitting = [t for t in PTX_VERSIONS if int(t[3:]) <= int(wanted.group(1))]
    return max(fitting, key=lambda t: int(t[3:])) if fitting else None


def scope_of(name):
    return SCOPES[re.sub(r'-?one-as$', '', name or '')]


def asm(result, kind, text, operands, constraints):
    """A call of inline assembly; `operands` as IR writes them."""
    head = '  %s = ' % result if result else '  '
    return head + 'call %s asm sideeffect "%s", "%s"(%s) convergent' % (
        kind, text, constraints + ',~{memory}', ', '.join(operands))


def fence(order, scope):
    return '  call void asm sideeffect "fence.%s.%s;", "~{memory}"() convergent' % (order, scope)


class Atomics:
    """One function's atomic operations, line by line."""

    def __init__(self):
        self.count = 0

    def temporary(self):
        self.count += 1
        return '%%hipr.a%d' % self.count

    @staticmethod
    def order(order, scope):
        """The fence that comes first, and the order word of the instruction."""
        if order == 'seq_cst':  # a fence before each makes any acquire or release of them consistent
            return [fence('sc', scope)], 'acq_rel'
        return [], {'unordered': 'relaxed', 'monotonic': 'relaxed'}.get(order, order)

    @staticmethod
    def plain(kind, scope, order):
        """Whether LLVM's own instruction says the same: relaxed, of the device; shared memory is the block's."""
        if SHARED in kind:
            return True
        if kind.strip() not in WIDTHS:
            raise ir.Unsupported('an atomic operation on ' + kind)
        return order in ('monotonic', 'unordered') and scope == 'gpu'

    def modify(self, match):
        result, operation, kind, pointer, value, scope, order = match.groups()
        scope = scope_of(scope)
        if operation not in OPERATIONS:
            raise ir.Unsupported('the atomic operation ' + operation)
        if self.plain(kind, scope, order):
            return None
        before, word = self.order(order, scope)
        if operation == 'sub':
            negated = self.temporary()
            before.append('  %s = sub %s 0, %s' % (negated, kind, value))
            value = negated
        name, letter = OPERATIONS[operation]
        letter = 'b' if name == 'exch' else letter
        text = 'atom.%s.%s.%s.%s%d $0, [$1], $2;' % (word, scope, name, letter, WIDTHS[kind])
        register = REGISTERS[kind]
        return before + [asm(result, kind, text, ['%s* %s' % (kind, pointer), '%s %s' % (kind, value)],
                             '=%s,l,%s' % (register, register))]

    def swap(self, match):
        result, kind, pointer, expected, wanted, scope, order, _ = match.groups()
        scope = scope_of(scope)
        if self.plain(kind, scope, order):
            return None
        before, word = self.order(order, scope)
        seen, same, pair = self.temporary(), self.temporary(), self.temporary()
        register = REGISTERS[kind]
        text = 'atom.%s.%s.cas.b%d $0, [$1], $2, $3;' % (word, scope, WIDTHS[kind])
        operands = ['%s* %s' % (kind, pointer), '%s %s' % (kind, expected), '%s %s' % (kind, wanted)]
        both = '{ %s, i1 }' % kind
        return before + [
            asm(seen, kind, text, operands, '=%s,l,%s,%s' % (register, register, register)),
            '  %s = icmp eq %s %s, %s' % (same, kind, seen, expected),
            '  %s = insertvalue %s undef, %s %s, 0' % (pair, both, kind, seen),
            '  %s = insertvalue %s %s, i1 %s, 1' % (result, both, pair, same)]

    def load(self, match):
        result, kind, pointer, scope, order = match.groups()
        scope = scope_of(scope)
        if self.plain(kind, scope, order):
            return None
        before, word = self.order(order, scope)
        word = 'acquire' if word == 'acq_rel' else word
        text = 'ld.%s.%s.b%d $0, [$1];' % (word, scope, WIDTHS[kind])
        return before + [asm(result, kind, text, ['%s* %s' % (kind, pointer)], '=%s,l' % REGISTERS[kind])]

    def store(self, match):
        kind, value, pointer, scope, order = match.groups()
        scope = scope_of(scope)
        if self.plain(kind, scope, order):
            return None
        before, word = self.order(order, scope)
        word = 'release' if word == 'acq_rel' else word
        text = 'st.%s.%s.b%d [$0], $1;' % (word, scope, WIDTHS[kind])
        return before + [asm('', 'void', text, ['%s* %s' % (kind, pointer), '%s %s' % (kind, value)],
                             'l,' + REGISTERS[kind])]

    def rewrite(self, line):
        """The lines that stand for `line`."""
        if ' atomic' not in line and 'cmpxchg' not in line and not line.startswith('  fence'):
            return [line]
        found = FENCE.match(line)
        if found:
            if (found.group(1) or '').startswith('singlethread'):
                return []  # for the compiler only, and calls order memory for it as well
            word = 'sc' if found.group(2) == 'seq_cst' else 'acq_rel'
            return [fence(word, scope_of(found.group(1)))]
        for pattern, made in ((ATOMIC_RMW, self.modify), (ATOMIC_SWAP, self.swap), (ATOMIC_LOAD, self.load),
                              (ATOMIC_STORE, self.store)):
            match = pattern.match(line)
            if match:
                plain = re.sub(r' syncscope\("[^"]*"\)', '', line)
                return made(match) or [plain.replace(' unordered,', ' monotonic,')]
        return [line]


def print_call(line, number):
    """A call of printf as one of vprintf: (what the function allocates, the lines), or None."""
    match = PRINTF.match(line)
    if not match:
        return None
    opening = match.end() - 1
    arguments = ir.split_top(line[opening + 1:ir.closing(line, opening)])
    kinds, values = [], []
    for text in arguments:
        kind = ir.take_type(text)
        rest = text[len(kind):].strip()
        if re.search(r'\bbyval\b', rest):
            raise ir.Unsupported('printf of a struct')
        kinds.append(kind)
        values.append(re.sub(r'^(?:(?:noundef|nonnull|signext|zeroext|align \d+|dereferenceable\(\d+\)) )*', '',
                             rest))
    packed, place = '{ %s }' % ', '.join(kinds[1:] or ['i32']), '%%hipr.printf%d' % number
    lines = []
    for i, (kind, value) in enumerate(zip(kinds[1:], values[1:])):
        slot = '%s.%d' % (place, i)
        lines += ['  %s = getelementptr inbounds %s, %s* %s, i32 0, i32 %d' % (slot, packed, packed, place, i),
                  '  store %s %s, %s* %s' % (kind, value, kind, slot)]
    lines += ['  %s.all = bitcast %s* %s to i8*' % (place, packed, place),
              '%scall i32 @vprintf(i8* %s, i8* %s.all) convergent' % (match.group(1), values[0], place)]
    return ['  %s = alloca %s, align 8' % (place, packed)], lines


def drop_address_spaces(text):
    """All but the one of shared memory."""
    text = re.sub(r', addrspace\(\d+\)(?=$|,|\n)', '', text)  # at the end of an alloca
    return re.sub(r' ?\baddrspace\((?!3\))\d+\)', '', text)


def is_shared_pointer(text, at):
    """Whether the type that starts at text[at] points to shared memory."""
    end = at + len(ir.take_type(text[at:]))
    return bool(re.match(r'\s*addrspace\(3\)\*', text[end:])) or SHARED in text[at:end]


def plain_casts(line):
    """Casts between address spaces that are one by now are bitcasts. Inner ones are met after outer ones."""
    start = 0
    while True:
        found = re.compile(r'\baddrspacecast (\(?)').search(line, start)
        if not found:
            return line
        start = found.end()
        shared = is_shared_pointer(line, found.end())
        if found.group(1):
            inside = line[found.end():ir.closing(line, found.end() - 1)]
            to = inside.rpartition(' to ')[2]
        else:
            to = line[found.end():].partition(', !')[0].rpartition(' to ')[2]
        if shared == (SHARED in to):
            line = line[:found.start()] + 'bitcast ' + found.group(1) + line[found.end():]
            start = found.start()


def rename_intrinsic(match):
    name = match.group(1)
    if name.startswith('amdgcn.'):
        return '@__hipr_' + name.replace('.', '_')
    return '@llvm.' + re.sub(r'\.p[124-9]', '.p0', name)


def clean_line(line):
    line = re.sub(r'@llvm\.((?!compiler\.used|used|global)[\w.]+)', rename_intrinsic, line)
    line = re.sub(r',? comdat(\(\$' + ir.NAME + r'\))?', '', line)
    return plain_casts(drop_address_spaces(line))


def rewrite_global(line):
    """A module variable as PTX can have it."""
    name = re.match(r'^@(' + ir.NAME + r') = ', line).group(1)
    if '__HIP_Coordinates' in name:  # stands for an index register, is never looked at
        return re.sub(r'= (?:weak|linkonce)\w* (?:hidden |protected )?', '= internal ', line)
    # There is one module: nobody has another copy of what inline functions and templates hold.
    line = re.sub(r'^(@' + ir.NAME + r' = )(?:weak|linkonce)(?:_odr)? (?:hidden |protected )?',
                  r'\1internal ' if SHARED in line else r'\1', line)
    local = re.match(r'^@\S+ = (?:internal|private) ', line)
    if not local and not PTX_NAME.match(ir.unquote(name)):
        raise ir.Unsupported('PTX cannot spell the variable %s: give it external linkage' % ir.unquote(name))
    if SHARED in line and re.search(r'= external ', line):  # dynamic shared memory: as aligned as can be
        line = re.sub(r', align \d+', ', align 16', line)
    return line


def rewrite_define(line):
    """Functions that are no kernels are nobody else's."""
    line = re.sub(r'^define (?:(?:weak|linkonce)\w* |internal |private )?(?:dso_local )?(?:hidden |protected )?',
                  'define internal ', line)
    return line


def entry(kernel, number):
    """The PTX entry of a kernel, which calls its body, and its limit of threads. Every kernel takes as many as
    HIP promises: without a limit PTX is free to use more registers than 1024 threads have."""
    parameters, passed, lines = [], [], []
    for i, (kind, alignment, by_reference) in enumerate(kernel.parameters):
        if by_reference:
            parameters.append('%s* byval(%s)%s' % (kind, kind, ' align %d' % alignment if alignment else ''))
            passed.append('%s* %%a%d' % (kind, i))
        elif kind == 'i1':
            parameters.append('i8')
            lines.append('  %%b%d = trunc i8 %%a%d to i1' % (i, i))
            passed.append('i1 %%b%d' % i)
        else:
            parameters.append(kind)
            passed.append('%s %%a%d' % (kind, i))
    types = ', '.join(p.partition(' byval(')[0] for p in parameters)
    head = 'define ptx_kernel void @%s(%s) convergent nounwind {' % (
        ir.quote(kernel.name), ', '.join('%s %%a%d' % (p, i) for i, p in enumerate(parameters)))
    call = '  call void @%s(%s) convergent' % (ir.quote('__hipr_body_' + kernel.name), ', '.join(passed))
    notes = '!%d = !{void (%s)* @%s, !"maxntidx", i32 %d}' % (number, types, ir.quote(kernel.name),
                                                              kernel.max_threads)
    return [head] + lines + [call, '  ret void', '}', ''], notes


def kernel_body(line, groups):
    """A kernel's definition: what is known of it, and the line that begins its body as an ordinary function."""
    kernel, body = ir.parse_kernel(line, groups)
    if not PTX_NAME.match(kernel.name):
        raise ir.Unsupported('PTX cannot spell the kernel ' + kernel.name)
    name = re.search(r'@(' + ir.NAME + r')\(', body).group(1)
    body = body.replace('@%s(' % name, '@%s(' % ir.quote('__hipr_body_' + kernel.name), 1)
    opening = body.index('(', body.index('@'))
    end = ir.closing(body, opening)
    inside = body[opening:end + 1]
    while ' byref(' in inside:
        at = inside.index(' byref(')
        inside = inside[:at] + inside[ir.closing(inside, at + 6) + 1:]
    return kernel, body[:opening] + inside + ' alwaysinline' + body[end + 1:]


def functions(lines, groups):
    """The module's lines with functions rewritten, its kernels, and the declarations."""
    kernels, declares, out, skipping, place, prints, atomics = [], [], [], False, 0, 0, Atomics()
    for line in lines:
        if line.startswith('declare '):
            declares.append(clean_line(line))
            continue
        if line.startswith('define '):
            name = ir.unquote(re.search(r'@(' + ir.NAME + r')\(', line).group(1))
            if name in REPLACED:
                opening = line.index('(', line.index('@'))
                types = [ir.take_type(p) for p in ir.split_top(line[opening + 1:ir.closing(line, opening)])]
                declares.append('declare void @%s(%s)' % (name, ', '.join(types)))
                skipping = True
            elif ' amdgpu_kernel ' in line:
                kernel, line = kernel_body(line, groups)
                kernels.append(kernel)
            else:
                line = rewrite_define(line)
            place, prints = len(out) + 1, 0
        if skipping:
            skipping = line != '}'
            continue
        printed = print_call(clean_line(line), prints) if '@printf(' in line else None
        if printed:
            out[place:place] = printed[0]
            out += printed[1]
            prints += 1
            continue
        out += atomics.rewrite(clean_line(line))
    return out, kernels, declares


def rewrite(text):
    """IR for NVPTX of a module that clang made for WAVE32_TARGET. Returns it and the kernels."""
    # The first value of a managed variable (hipcore/codeobject/managed.h).
    lines, text = [], re.sub(r'@([-\w$.]+)\.managed(?![\w$.])', r'@\1$managed', ir.writable(text))
    if ir.Spelling(text).opaque:
        raise ir.Unsupported('PTX is made with clang 14 only: HIPCC_CPU_CLANG=clang++-14')
    ir.refuse_assembly(text.split('\n'), 'NVIDIA\'s GPUs')
    for line in text.split('\n'):
        if line.startswith('target datalayout'):
            line = 'target datalayout = "%s"' % LAYOUT
        elif line.startswith('target triple'):
            line = 'target triple = "%s"' % TRIPLE
        elif line.startswith('@llvm.compiler.used') or (line.startswith('$') and ' = comdat ' in line):
            continue
        elif line.startswith('@') and not line.startswith('@llvm.'):
            line = rewrite_global(line)
        elif line.startswith('attributes #'):
            line = ir.clean_attributes(line)
        lines.append(line)
    groups = dict(re.findall(r'^attributes #(\d+) = \{(.*)\}', text, flags=re.M))
    out, kernels, declares = functions(lines, groups)
    declares = [re.sub(r' #\d+$', '', d) for d in declares if '@printf(' not in d]
    out += ir.declarations(declares + ['declare i32 @vprintf(i8*, i8*)'])
    notes = []
    for kernel in kernels:
        made, note = entry(kernel, 1000000 + len(notes))
        out += made
        notes.append(note)
    if notes:
        out += notes + ['!nvvm.annotations = !{%s}' % ', '.join(n.partition(' ')[0] for n in notes)]
    return '\n'.join(out) + '\n', kernels


def strip_targets(text):
    """Without what functions say of the processor and of the C library: functions that differ are not inlined.
    All get one processor, and there is no C library: the device support has names of its own."""
    return re.sub(r'"(?:target-cpu|target-features)"="[^"]*"\s*|"no-builtins"\s*', '', text)


def with_sign_bits(ptx):
    """The text with the fields that LLVM 14 gets wrong: (x >> 63) & 7 of a signed 64-bit number, also written as
    x < 0 ? 7 : 0, becomes a bit field that extends beyond bit 63. PTX fills those bits with 0, the shift fills
    them with the sign. (NVPTXISelDAGToDAG.cpp, tryBFE: the bits left are counted in the width of the shift's
    amount. LLVM 19 makes the shift.)"""
    def field(match):
        space, result, number, first, bits = match.groups()
        if int(first) + int(bits) <= 64:
            return match.group(0)
        return '%sshr.s64 \t%s, %s, %s;\n%sand.b64  \t%s, %s, %d;' % (
            space, result, number, first, space, result, result, (1 << int(bits)) - 1)
    return re.sub(r'^([ \t]*)bfe\.u64\s+(%\w+), (%\w+), (\d+), (\d+);', field, ptx, flags=re.M)


def missing(ptx):
    """Functions that PTX needs and nobody has, by the names that sources know."""
    names = re.findall(r'^\.extern \.func\s+(?:\([^)]*\)\s*)?([\w$]+)', ptx, flags=re.M)
    found = sorted(set(names) - DRIVER_FUNCTIONS)
    return [re.sub(r'^__(?:ocml|ockl|hipr_amdgcn|hipr)_', '', name) for name in found]
