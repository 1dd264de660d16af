# SPDX-License-Identifier: Apache-2.0
"""Rewrites the LLVM IR that clang makes of HIP device code for amdgcn into IR for the host.

Why amdgcn: with that target every source argument of a kernel stays one IR argument, AMD's own headers
compile unchanged, and shared memory, barriers and wave operations are visible by name. What changes:
address spaces go, shared variables become thread-local (a block lives on one OS thread), target intrinsics
become calls of worker/runtime/cpu/kernel/device, and every kernel gets `__hipr_run_<name>(arguments, first,
end)` plus constants from which note.py reads the argument layout.
"""
import re

from . import conversions, passed_on, waves
from .text import NAME, Unsupported, closing, quote, split_top, take_type, unquote

LAYOUT = "e-m:e-p270:32:32-p271:32:32-p272:64:64-i64:64-%sf80:128-n8:16:32:64-S128"
TRIPLE = "x86_64-pc-linux-gnu"
MOST_IN_BOUNDS = 2**31 - 1
DYNAMIC_SHARED_BYTES = 65536  # HIPR_DYNAMIC_SHARED_BYTES
DEVICE_ABI = 6                # HIPR_DEVICE_ABI
TABLE_SECTION = ".hipr_table"

FIRST_OPAQUE = 15        # LLVM versions from this on write every pointer as `ptr`
FIRST_ALIGNED_I128 = 18  # and from this on align i128 to 16 bytes on x86-64

GLOBAL = re.compile(r'@(' + NAME + ')')
# Private ones are literals, hidden ones the device library's.
CONSTANT_VARIABLE = re.compile(r'^@' + NAME + r' = (?!external |extern_weak |private |[a-z_ ]*\bhidden )[a-z_ ]*'
                               r'addrspace\(4\) (?:externally_initialized )?(?:global|constant) (.*)$')
# The first call of every printf and assert.
PRINTS = re.compile(r'__ockl_f?printf_\w*begin$')
# Calls that may park the calling HIP thread: kernels that reach one run on fibers.
PARKS = re.compile(r'__hipr_amdgcn_(s_barrier|wave_barrier|ds_bpermute|ds_permute|ds_swizzle|'
                   r'mov_dpp|update_dpp|readfirstlane|readlane|icmp|fcmp|read_exec|ballot)|'
                   r'__hipr_wave_sync$|__ockl_(wgred|wfany|wfall|activelane|grid_sync|gws_barrier|multi_grid_sync)')


# A function with any number of arguments cannot have "split-stack", which comes with its attributes.
VARIADIC = re.compile(r'^(define .*\.\.\.\).*?) #\d+')
ASSEMBLY_TEXT = re.compile(r'\bcall [^"]*\basm (?:sideeffect |alignstack |inteldialect |unwind )*"([^"]*)"')


class Spelling:
    """What the LLVM that wrote `text` writes in a way of its own: pointers are `i8*` up to version 14, `ptr` from
    15 on."""

    def __init__(self, text):
        found = re.search(r'clang version (\d+)', text)
        version = int(found.group(1)) if found else 0
        self.opaque = version >= FIRST_OPAQUE
        self.layout = LAYOUT % ('i128:128-' if version >= FIRST_ALIGNED_I128 else '')

    def to(self, kind):
        return 'ptr' if self.opaque else kind + '*'

    def function(self, result, kinds):
        """A pointer to a function."""
        return 'ptr' if self.opaque else '%s (%s)*' % (result, ', '.join(kinds))


class Kernel:
    def __init__(self, name, parameters, max_threads):
        self.name = name
        self.parameters = parameters      # [(IR type, alignment or None, by reference)]
        self.max_threads = max_threads
        self.shared = []                  # names of its static shared variables
        self.parks = False
        self.spins = False                # does not park, and may wait in a loop for another thread
        self.prints = False               # or asserts


def rename_intrinsic(match):
    name = match.group(1)
    if name.startswith('amdgcn.'):
        return '@__hipr_' + plain_intrinsic(name).replace('.', '_')
    return '@llvm.' + re.sub(r'\.p[1-9]', '.p0', name)


def plain_intrinsic(name):
    """As LLVM 14 calls it for the one address space: LLVM 15 leaves the type out that a pointer is to, and LLVM 19 adds
    one to lane operations, which have 32 bits only in older ones."""
    name = re.sub(r'\.([if]\d+)\.p\d(?:\1)?(?=\.|$)', r'.\1.p0\1', name)
    return re.sub(r'^(amdgcn\.(?:readfirstlane|readlane|writelane))\.i32$', r'\1', name)


def writable(text):
    """The host writes __constant__ variables, which LLVM 22 calls constant for a GPU, whose host is another."""
    return re.sub(r'^(@.* externally_initialized )constant ', r'\1global ', text, flags=re.M)


def kept(text):
    """Inline variables that only the host uses: clang keeps them by @llvm.compiler.used, which rewrite() drops."""
    return re.sub(r'^(@' + NAME + r' = )linkonce(?=(?:_odr)? .* ?externally_initialized )', r'\1weak', text, flags=re.M)


def strip_target(text, layout):
    """Everything that is done line by line, without looking at kernels."""
    text = re.sub(r'^target datalayout = .*$', 'target datalayout = "%s"' % layout, text, flags=re.M)
    text = re.sub(r'^target triple = .*$', 'target triple = "%s"' % TRIPLE, text, flags=re.M)
    text = kept(writable(text))
    text = re.sub(r'(?<=[ ,])(syncscope\("[^"]*"\)) ', '', text)
    text = re.sub(r'@llvm\.trap\(', '@__hipr_trap(', text)
    text = re.sub(r'@llvm\.((?!compiler\.used|used|global)[\w.]+)', rename_intrinsic, text)
    text = re.sub(r'\baddrspacecast \(', 'bitcast (', text)
    text = re.sub(r'= addrspacecast ', '= bitcast ', text)
    return text


def stack_overflow(spelling):
    """Stacks have no guard page of their own (fiber.h). "split-stack" makes each function compare the stack pointer
    with a limit when it begins; where too little is left it comes here."""
    kept = '%s @__hipr_stack_overflow' % spelling.function('void', [])
    if not spelling.opaque:
        kept = 'i8* bitcast (%s to i8*)' % kept
    return ['module asm ".text"', 'module asm "__morestack:"', 'module asm "__morestack_allocate_stack_space:"',
            'module asm "  andq $-16, %rsp"', 'module asm "  call __hipr_stack_overflow"',
            '@llvm.compiler.used = appending global [1 x %s] [%s], section "llvm.metadata"' % (spelling.to('i8'), kept)]


def refuse_assembly(lines, target):
    """Inline assembly is an AMD GPU's; an empty one only orders the compiler's memory accesses."""
    function = ''
    for line in lines:
        if line.startswith('define '):
            function = unquote(re.search(r'@(' + NAME + r')\(', line).group(1))
        elif ' asm ' in line:
            found = ASSEMBLY_TEXT.search(line)
            text = re.sub(r'\\0[9A]', ' ', found.group(1)).strip() if found else ''
            if text:
                raise Unsupported('inline assembly of AMD\'s GPUs ("%s") in %s means nothing to %s'
                                  % (text, function, target))


def clean_attributes(line):
    target = r'"(target-cpu|target-features|amdgpu-[\w-]+|uniform-work-group-size)"="[^"]*"\s*'
    if '"target-cpu"=' in line:  # of functions that are defined here
        line = line.replace(' }', ' "split-stack" }')
    line = re.sub(target, '', line)
    # The index functions are "readnone" for the GPU; here they change from one turn of the loop to the next.
    return re.sub(r'\b(readnone|readonly|speculatable|nosync|memory\([^)]*\))\s*', '', line)


def drop_address_spaces(text):
    text = re.sub(r', addrspace\(\d+\)(?=$|,|\n)', '', text)  # at the end of an alloca
    return re.sub(r' ?\baddrspace\(\d+\)', '', text)


def parse_globals(lines, spelling):
    """Shared variables, static and extern: {name: type}; and the lines, where the extern ones become aliases."""
    static, dynamic, out = {}, {}, []
    pattern = re.compile(r'^@(' + NAME + r') = (.*?)addrspace\(3\) (global|constant) (.*)$')
    for line in lines:
        match = pattern.match(line)
        if not match:
            out.append(line)
            continue
        name, head, _, rest = match.groups()
        kind = take_type(drop_address_spaces(rest))
        if re.search(r'\bexternal\b|\bextern_weak\b', head):
            dynamic[name] = kind
            continue
        static[name] = kind
        head = re.sub(r'\b(protected|externally_initialized|default) ', '', head)
        out.append('@%s = %sthread_local global %s' % (name, head, rest))
    if dynamic:
        out.append('@__hipr_dynamic_shared = internal thread_local global [%d x i8] zeroinitializer, align 16'
                   % DYNAMIC_SHARED_BYTES)
    for name, kind in dynamic.items():
        shared = '[%d x i8]' % DYNAMIC_SHARED_BYTES
        to = '%s @__hipr_dynamic_shared' % spelling.to(shared)
        if not spelling.opaque:
            to = 'bitcast (%s to %s)' % (to, spelling.to(kind))
        out.append('@%s = internal thread_local alias %s, %s' % (name, kind, to))
    return static, dynamic, out


def set_bounds(kernel, attributes):
    """What __launch_bounds__() says. Negative numbers pass clang, which writes them without a sign; AMD's back end
    refuses them."""
    threads = re.search(r'"amdgpu-flat-work-group-size"="\d+,(\d+)"', attributes)
    waves_per_unit = re.search(r'"amdgpu-waves-per-eu"="(\d+)', attributes)
    for number in (threads, waves_per_unit):
        if number and int(number.group(1)) > MOST_IN_BOUNDS:
            raise Unsupported('the __launch_bounds__ of %s are negative' % kernel.name)
    if threads:
        kernel.max_threads = int(threads.group(1))


def parse_kernel(line, groups):
    """A `define ... amdgpu_kernel` line: the Kernel and the line for the host."""
    match = re.search(r'@(' + NAME + r')\(', line)
    opening = match.end() - 1
    end = closing(line, opening)
    parameters = []
    for text in split_top(drop_address_spaces(line[opening + 1:end])):
        byref = re.search(r'\bbyref\(', text)
        if byref:
            close = closing(text, byref.end() - 1)
            align = re.search(r'\balign (\d+)', text)
            parameters.append((text[byref.end():close], int(align.group(1)) if align else None, True))
        else:
            parameters.append((take_type(text), None, False))
    kernel = Kernel(unquote(match.group(1)), parameters, 1024)
    set_bounds(kernel, ' '.join(groups.get(g, '') for g in re.findall(r'#(\d+)', line[end:])))
    # One definition in one code object, called by its run function only.
    host = 'define internal void @%s(%s)%s' % (match.group(1), line[opening + 1:end],
                                               re.sub(r' comdat(\(\$' + NAME + r'\))?', '', line[end + 1:]))
    return kernel, host


def size_of(kind, spelling):
    """A constant expression, of those that LLVM 14 to 22 all have: no arithmetic, that is note.py's."""
    pointer = spelling.to(kind)
    return 'ptrtoint (%s getelementptr (%s, %s null, i32 1) to i64)' % (pointer, kind, pointer)


def argument_fields(kernel):
    """The fields of a struct type that lie where the kernel's arguments do."""
    fields = []
    for kind, alignment, _ in kernel.parameters:
        field = 'i8' if kind == 'i1' else kind
        # An empty array of vectors brings an alignment that the type itself does not say (alignas).
        fields.append('{ [0 x <%d x i8>], %s }' % (alignment, field) if alignment and alignment > 1 else field)
    return fields


def run_function(kernel, spelling):
    """void __hipr_run_<name>(i8* arguments, i32 first, i32 end): the threads of one row of a block. If one of them
    waits for another in a loop, the executor gives the others stacks of their own: then this loop ends with it."""
    name = quote('__hipr_run_' + kernel.name)
    bytes_pointer, block = spelling.to('i8'), '{ %s }' % ', '.join(argument_fields(kernel))
    lines = ['define void @%s(%s %%arguments, i32 %%first, i32 %%end) "split-stack" {' % (name, bytes_pointer),
             'entry:']
    lines.append('  %%block = bitcast %s %%arguments to %s' % (bytes_pointer, spelling.to(block)))
    passed = []
    for i, (kind, alignment, by_reference) in enumerate(kernel.parameters):
        inner = ', i32 1' if alignment and alignment > 1 else ''
        pointer = '%%p%d' % i
        lines.append('  %s = getelementptr %s, %s %%block, i32 0, i32 %d%s'
                     % (pointer, block, spelling.to(block), i, inner))
        if by_reference:
            passed.append('%s %s' % (spelling.to(kind), pointer))
            continue
        if kind == 'i1':
            lines += ['  %%b%d = load i8, %s %s, align 1' % (i, bytes_pointer, pointer),
                      '  %%a%d = trunc i8 %%b%d to i1' % (i, i)]
        else:
            lines.append('  %%a%d = load %s, %s %s' % (i, kind, spelling.to(kind), pointer))
        passed.append('%s %%a%d' % (kind, i))
    call = ', '.join(passed)
    lines += ['  %any = icmp ult i32 %first, %end', '  br i1 %any, label %turn, label %done', 'turn:',
              '  %x = phi i32 [ %first, %entry ], [ %next, %turn ]',
              '  call void @__hipr_set_thread_x(i32 %x)',
              '  call void @%s(%s)' % (quote(kernel.name), call),
              '  %next = add i32 %x, 1', '  %more = icmp ult i32 %next, %end']
    if kernel.spins:
        lines += ['  %on = call zeroext i1 @__hipr_row_goes_on()', '  %again = and i1 %more, %on']
    lines += ['  br i1 %%%s, label %%turn, label %%done' % ('again' if kernel.spins else 'more'), 'done:', '  ret void',
              '}', '']
    return lines


def constant_types(lines):
    """The types of the module's own __constant__ variables. HIP's headers have some without a value (blockIdx)."""
    found = [drop_address_spaces(m.group(1)) for m in map(CONSTANT_VARIABLE.match, lines) if m]
    return [take_type(rest) for rest in found if not re.match(r' (?:undef|poison)\b', rest[len(take_type(rest)):])]


def table(kernels, static, constants, spelling):
    """One constant array of i64 for the module; note.py walks it in the same order: how many __constant__ variables
    there are, and their sizes; of every kernel the sizes of its shared variables, then offset and size of every
    argument."""
    words = ['%d' % len(constants)] + [size_of(kind, spelling) for kind in constants]
    for kernel in kernels:
        words += [size_of(static[name], spelling) for name in kernel.shared]
        fields = argument_fields(kernel)
        block = '{ %s }' % ', '.join(fields)
        for i, field in enumerate(fields):
            words.append('ptrtoint (%s getelementptr (%s, %s null, i32 0, i32 %d) to i64)'
                         % (spelling.to(field), block, spelling.to(block), i))
            words.append(size_of(field, spelling))
    body = ', '.join('i64 ' + w for w in words)
    return ['@__hipr_table = constant [%d x i64] [%s], section "%s"' % (len(words), body, TABLE_SECTION)]


def reach(kernels, bodies, static, dynamic):
    """Finds what each kernel reaches through calls and references: shared variables, parking calls, prints."""
    extern = {unquote(n) for n in dynamic}
    uses = {name: set(unquote(n) for n in GLOBAL.findall(text)) for name, text in bodies.items()}
    pointer_call = re.compile(r'\bcall\b[^@\n]* %' + NAME + r'\(')
    indirect = {name: bool(pointer_call.search(text)) for name, text in bodies.items()}
    plain_static = {unquote(n): n for n in static}
    any_prints = any(PRINTS.match(name) for used in uses.values() for name in used)
    for kernel in kernels:
        seen, todo = set(), [kernel.name]
        while todo:
            name = todo.pop()
            if name in seen:
                continue
            seen.add(name)
            kernel.parks = kernel.parks or bool(PARKS.match(name)) or indirect.get(name, False)
            kernel.prints = kernel.prints or bool(PRINTS.match(name)) or (any_prints and indirect.get(name, False))
            todo += uses.get(name, ())
        kernel.shared = sorted(plain_static[n] for n in seen if n in plain_static)
        if kernel.shared or seen & extern:
            kernel.parks = kernel.parks or bool(seen & {waves.STEP, *waves.TURNS})
        kernel.spins = bool(seen & waves.TURNS) and not kernel.parks


def declarations(lines):
    """The declarations once each, with functions defined that only IR can pass on. Returns lines."""
    known, out, todo = set(), [], list(lines)
    while todo:
        line = re.sub(r'\b(hidden|protected) ', '', todo.pop(0))
        name = re.search(r'@(' + NAME + r')\(', line).group(1)
        if name in known:
            continue
        known.add(name)
        made = passed_on.define(line)
        if made:
            out += made[0]
            todo += made[1]
            continue
        if not name.startswith('llvm.'):
            line = re.sub(r'\bimmarg\b ?', '', line)
        out.append(line)
    return out


def take_names(text):
    """What each `__hipr_name_expr_<n>` of hiprtc points to, [(n, mangled)], and the text without them."""
    names, kept = [], []
    for line in text.split('\n'):
        match = re.match(r'@__hipr_name_expr_(\d+) = ', line)
        if not match:
            # What keeps such variables alive in the GPU's object; here visibility does.
            if not line.startswith('@llvm.compiler.used = '):
                kept.append(line)
            continue
        found = GLOBAL.findall(line[match.end():])
        if found:
            names.append((int(match.group(1)), unquote(found[0])))
    return names, '\n'.join(kept)


def rewrite(text):
    """The host's IR of a module and its kernels in table order."""
    try:
        text = conversions.saturate(waves.mark(text))
    except ValueError as problem:
        raise Unsupported(str(problem)) from problem
    spelling = Spelling(text)
    # What keeps variables alive in a GPU's object is not needed here: their visibility does.
    lines = [l for l in strip_target(text, spelling.layout).split('\n') if not l.startswith('@llvm.compiler.used = ')]
    refuse_assembly(lines, 'x86_64-cpu')
    groups = dict(re.findall(r'^attributes #(\d+) = \{(.*)\}', '\n'.join(lines), flags=re.M))
    constants = constant_types(lines)
    static, dynamic, lines = parse_globals(lines, spelling)
    kernels, declares, bodies, out, inside = [], [], {}, [], None
    dropped = set()
    for line in lines:
        if line.startswith('define '):
            name = unquote(re.search(r'@(' + NAME + r')\(', line).group(1))
            if ' amdgpu_kernel ' in line:
                kernel, line = parse_kernel(line, groups)
                kernels.append(kernel)
                dropped.add(name)
            line = VARIADIC.sub(r'\1', line)
            inside, body = name, []
        if line.startswith('declare '):
            declares.append(drop_address_spaces(line))
            continue
        if line.startswith('attributes #'):
            line = clean_attributes(line)
        line = drop_address_spaces(line)
        out.append(line)
        if inside is not None:
            body.append(line)
            if line == '}':
                bodies[inside] = '\n'.join(body[1:])
                inside = None
    out = [l for l in out if not (l.startswith('$') and unquote(l[1:].split(' = ')[0]) in dropped)]
    out = [re.sub(r'#\d+$', '', l) if l.startswith('declare') else l for l in out]
    reach(kernels, bodies, static, dynamic)
    enter = spelling.function('void', [spelling.to('i8')])
    out += declarations(declares + waves.DECLARATIONS
                        + ['declare void @__hipr_set_thread_x(i32)', 'declare zeroext i1 @__hipr_row_goes_on()',
                           'declare void @__hipr_stack_overflow()',
                           'declare void @__hipr_enter(%s)' % spelling.to('i8')]) + stack_overflow(spelling)
    out.append('@__hipr_module = constant {i64, %s} {i64 %d, %s @__hipr_enter}' % (enter, DEVICE_ABI, enter))
    for kernel in kernels:
        out += run_function(kernel, spelling)
    return '\n'.join(out + table(kernels, static, constants, spelling)) + '\n', kernels
