# SPDX-License-Identifier: Apache-2.0
"""Marks where the lanes of a wave wait for each other, in the IR that clang makes for amdgcn.

A GPU runs the lanes of a wave in step: what all have stored each may load behind it, without a barrier. On the
host's cores a lane runs until it waits, so programs that rely on this need points to wait at. They are where a
program says that its lanes exchange:
* fences of a wavefront, block or device: also what sync() of cooperative groups' tiles is made of;
* __threadfence() and its like, volatile and atomic loads and stores of memory that may be shared.
The former always make a kernel's threads wait (SYNC), the latter only where it has shared memory (STEP), so that a
kernel without keeps running as a plain loop. An atomic operation in a loop may be what the loop waits with: there, too,
the lanes wait after many of them (TURN), so that the thread that ends the loop runs. The same goes for the points
above in loops of kernels without shared memory (STEP_TURN). Plain loads and stores are no such points: the compiler
moves them, on GPUs as well.

The IR is not optimised yet: atomicAdd() and its like are functions. So a loop that calls a function with such
operations makes the turn at the call, and a function that is called once in a thread costs nothing.
"""
import re

SYNC = '__hipr_wave_sync'
STEP = '__hipr_wave_step'
TURN = '__hipr_wave_turn'
STEP_TURN = '__hipr_wave_step_turn'
TURNS = {TURN, STEP_TURN}
DECLARATIONS = ['declare void @%s() convergent' % name for name in (SYNC, STEP, TURN, STEP_TURN)]
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
DEFINED = re.compile(r'@("[^"]*"|[-\w$.]+)\(')
CALLED = re.compile(r'\bcall\b[^@]* @("[^"]*"|[-\w$.]+)\(')
LABEL = re.compile(r'^(?:("[^"]*"|[-\w$.]+)):')
TARGET = re.compile(r'\blabel %("[^"]*"|[-\w$.]+)')
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


def loops(body):
    """For each line of a function's body, whether it may run twice in one call."""
    block, blocks, place = 0, [set()], []
    names = {}
    for line in body:
        label = LABEL.match(line)
        if label:
            block, names[label.group(1)] = len(blocks), len(blocks)
            blocks.append(set())
        elif line.startswith('  ') and 'label %' in line or line.startswith('    '):
            blocks[block].update(TARGET.findall(line))
        place.append(block)
    after = [[names[name] for name in targets if name in names] for targets in blocks]
    again = in_cycles(after)
    return [again[block] for block in place]


def in_cycles(after):
    """Which nodes of a graph lie in a cycle: Tarjan's components, without recursion."""
    number, low, place, path, found = {}, {}, {}, [], [node in after[node] for node in range(len(after))]
    for root in range(len(after)):
        todo = [(root, iter(after[root]))] if root not in number else []
        while todo:
            node, rest = todo[-1]
            if node not in number:
                number[node] = low[node] = len(number)
                place[node] = len(path)  # while it is on the path
                path.append(node)
            following = next(rest, None)
            if following is not None:
                if following not in number:
                    todo.append((following, iter(after[following])))
                elif following in place:
                    low[node] = min(low[node], number[following])
                continue
            todo.pop()
            if todo:
                low[todo[-1][0]] = min(low[todo[-1][0]], low[node])
            if low[node] == number[node]:
                component = path[place[node]:]
                del path[place[node]:]
                for member in component:
                    del place[member]
                    found[member] = found[member] or len(component) > 1
    return found


class Module:
    """The functions of a module: their lines, and which of these are points or calls."""

    def __init__(self, functions):
        self.heads = [head for head, _ in functions]
        self.bodies = [body for _, body in functions]
        names = {match.group(1): i for i, match in enumerate(map(DEFINED.search, self.heads))}
        self.points, self.calls = [], []
        for head, body in functions:
            function = Function(bool(BARRIER.match(head)))
            self.points.append([function.before(line) for line in body])
            called = [CALLED.search(line) for line in body]
            self.calls.append([names.get(match.group(1)) if match else None for match in called])
        self.waits = self.find_waits()
        self.recursive = in_cycles([[name for name in calls if name is not None] for calls in self.calls])

    def find_waits(self):
        """Of each function, whether it or what it calls has a point that a loop may wait with."""
        callers = [set() for _ in self.heads]
        for function, calls in enumerate(self.calls):
            for called in calls:
                if called is not None:
                    callers[called].add(function)
        todo = [i for i, points in enumerate(self.points) if STEP in points or TURN in points]
        found = set()
        while todo:
            function = todo.pop()
            if function not in found:
                found.add(function)
                todo += callers[function]
        return [function in found for function in range(len(self.heads))]

    def marked(self, function):
        """The function's lines with calls of the points."""
        body, out = self.bodies[function], []
        again = [True] * len(body) if self.recursive[function] else loops(body) if self.waits[function] else None
        for place, line in enumerate(body):
            point, called = self.points[function][place], self.calls[function][place]
            if again and again[place]:
                point = STEP_TURN if point == STEP else point
                if point is None and called is not None and self.waits[called]:
                    point = TURN
            elif point == TURN:
                point = None
            if point:
                out.append('  call void @%s() convergent' % point)
            out.append(line)
        return out


def mark(text):
    """`text` with calls of the points."""
    lines, functions, head = [], [], None
    for line in name_registers(text).split('\n'):
        if head is None:
            lines.append(line)
            if line.startswith('define '):
                head, body = line, []
        elif line == '}':
            functions.append((head, body))
            head = None
        else:
            body.append(line)
    module, out, place = Module(functions), [], 0
    for line in lines:
        out.append(line)
        if line.startswith('define '):
            out += module.marked(place) + ['}']
            place += 1
    return '\n'.join(out)
