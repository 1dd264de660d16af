# SPDX-License-Identifier: Apache-2.0
"""Marks where the lanes of a wave wait for each other, in the IR that clang makes for amdgcn.

A GPU runs the lanes of a wave in step: what all have stored each may load behind it, without a barrier. On the
host's cores a lane runs until it waits, so programs that rely on this need points to wait at. They are where a
program says that its lanes exchange:
* fences of a wavefront, block or device: also what sync() of cooperative groups' tiles is made of;
* __threadfence() and its like, volatile and atomic loads and stores of memory that may be shared.
The former always make a kernel's threads wait (SYNC), the latter only where it has shared memory (STEP), so that a
kernel without keeps running as a plain loop. An atomic operation may be what a loop waits with: there, too, the lanes
wait after many of them (TURN), so that the thread that ends the loop runs. Plain loads and stores are no such points:
the compiler moves them, on GPUs as well.
"""
import re

SYNC = '__hipr_wave_sync'
STEP = '__hipr_wave_step'
TURN = '__hipr_wave_turn'
DECLARATIONS = ['declare void @%s() convergent' % name for name in (SYNC, STEP, TURN)]
NAME = r'%(?:"[^"]*"|[-\w$.]+)'
FENCE = re.compile(r'^  fence syncscope\("(?:wavefront|workgroup|agent)(?:-one-as)?"\) ')
FENCE_FUNCTION = re.compile(r'\bcall\b.* @__atomic_work_item_fence\(')
# __syncthreads() has such fences around its barrier, which waits anyway.
BARRIER = re.compile(r'^define .*__work_group_barrier')
# A pointer's type: `i32*`, or `ptr` from LLVM 15 on.
POINTER = r'(?:\*|\bptr(?: addrspace\(\d+\))?)'
DERIVED = re.compile(r'^  (' + NAME + r') = (?:addrspacecast|bitcast|getelementptr)\b.*?' + POINTER
                     + r'[^%@]*(' + NAME + r'|@)')
ALLOCA = re.compile(r'^  (' + NAME + r') = alloca ')
LOAD = re.compile(r'^  ' + NAME + r' = load .*?' + POINTER + r'[^%@]*(' + NAME + r'|@)')
STORE = re.compile(r'^  store .*' + POINTER + r' (' + NAME + r'|[@\w].*?)(?: syncscope|, align|, !| \w+,|$)')
OPERATION = re.compile(r'^  ' + NAME + r' = (?:atomicrmw|cmpxchg) .*?' + POINTER + r'[^%@]*(' + NAME + r'|@)')
REGISTER = re.compile(r'call (i\d+) @llvm\.read_register\.\w+\(metadata (![\w.]+)\)')
EXECUTING = {'exec': 'read_exec', 'exec_lo': 'read_exec_lo', 'exec_hi': 'read_exec_hi'}


class Function:
    """One function's memory accesses, line by line."""

    def __init__(self, barrier):
        self.barrier = barrier
        self.private = set()  # names of pointers into its own frame
        self.together = False  # nothing was stored since the lanes last waited for a load

    def before(self, line):
        """The name of the point to put before `line`, or None."""
        match = ALLOCA.match(line)
        if match:
            self.private.add(match.group(1))
            return None
        match = DERIVED.match(line)
        if match:
            if match.group(2) in self.private:
                self.private.add(match.group(1))
            return None
        if FENCE.match(line) or FENCE_FUNCTION.search(line):
            return self.fence(line)
        return self.access(line)

    def fence(self, line):
        self.together = False
        if self.barrier:
            return None
        return SYNC if FENCE.match(line) else STEP

    def access(self, line):
        if not line.startswith('  ') or ' call ' in line:
            self.together = self.together and '@llvm.' in line
            return None
        match = OPERATION.match(line)
        if match:
            return None if match.group(1) in self.private else TURN
        ordered = ' volatile ' in line or ' atomic ' in line
        match = LOAD.match(line)
        if match:
            if not ordered or match.group(1) in self.private or self.together:
                return None
            self.together = True
            return STEP
        match = STORE.match(line)
        if not match or match.group(1) in self.private:
            return None
        self.together = False
        return STEP if ordered else None


def name_registers(text):
    """The register that says which lanes run becomes a call."""
    names = dict(re.findall(r'^(!\d+) = !\{!"([^"]*)"\}', text, flags=re.M))

    def call(match):
        name = names.get(match.group(2), '')
        if name not in EXECUTING:
            raise ValueError('the register ' + name)
        return 'call %s @llvm.amdgcn.%s()' % (match.group(1), EXECUTING[name])

    found = sorted({(m.group(1), EXECUTING.get(names.get(m.group(2), ''))) for m in REGISTER.finditer(text)})
    text = re.sub(r'^declare i\d+ @llvm\.read_register\.\w+\(metadata\).*$', '', REGISTER.sub(call, text), flags=re.M)
    for kind, name in found:
        text += '\ndeclare %s @llvm.amdgcn.%s()\n' % (kind, name)
    return text


def mark(text):
    """`text` with calls of SYNC and STEP."""
    out, function = [], None
    for line in name_registers(text).split('\n'):
        if line.startswith('define '):
            function = Function(bool(BARRIER.match(line)))
        elif line == '}':
            function = None
        elif function:
            point = function.before(line)
            if point:
                out.append('  call void @%s() convergent' % point)
        out.append(line)
    return '\n'.join(out)
