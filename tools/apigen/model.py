# SPDX-License-Identifier: Apache-2.0
"""The API description as data: functions, parameters, messages, fields."""
import re
from dataclasses import dataclass, field

# Handle kinds of the wire, by the word in the brackets.
HANDLE_KINDS = {"stream": "kStream", "event": "kEvent", "module": "kModule", "function": "kFunction",
                "pool": "kMemPool", "graph": "kGraph", "graph_exec": "kGraphExec", "graph_node": "kGraphNode"}
# C types that are handles, and the word each needs. What HANDLE_KINDS lacks is the client's own business.
HANDLE_TYPES = {"hipStream_t": "stream", "hipEvent_t": "event", "hipModule_t": "module", "hipFunction_t": "function",
                "hipMemPool_t": "pool", "hipGraph_t": "graph", "hipGraphExec_t": "graph_exec",
                "hipGraphNode_t": "graph_node", "hipCtx_t": "ctx", "hipMemGenericAllocationHandle_t": "allocation",
                "hiprtcProgram": "opaque", "hipStreamCallback_t": "callback", "hipHostFn_t": "callback"}
# What else may stand in the brackets of a direction.
OTHER_KINDS = ("device", "host", "address", "host_function", "symbol", "opaque", "word")
MODES = ("CALL", "POST", "CREATE", "CACHED", "SENDS", "CUSTOM", "CUSTOM_CALL", "LOCAL", "ALIAS", "UNSUPPORTED")
ON_WIRE = ("CALL", "POST", "CREATE", "CACHED", "CUSTOM_CALL")  # message and worker side are generated

# C type -> (wire type, bytes). Enums that HIP passes by value are 32 bits.
SCALARS = {"size_t": "u64", "uint64_t": "u64", "unsigned long long": "u64", "int": "i32", "unsigned int": "u32",
           "unsigned": "u32", "uint32_t": "u32", "unsigned char": "u32", "unsigned short": "u32", "float": "f32",
           "hipDevice_t": "i32", "hipFuncCache_t": "i32", "hipSharedMemConfig": "i32", "hipMemPoolAttr": "i32",
           "hipFunction_attribute": "i32", "hipMemAccessFlags": "i32", "hipMemcpyKind": "i32"}
# Structs that travel by value, as (member, wire type).
STRUCTS = {
    "hipPitchedPtr": [("ptr", "u64"), ("pitch", "u64"), ("xsize", "u64"), ("ysize", "u64")],
    "hipExtent": [("width", "u64"), ("height", "u64"), ("depth", "u64")],
    "hipMemLocation": [("type", "i32"), ("id", "i32")],
    "hipMemPoolProps": [("allocType", "i32"), ("handleTypes", "i32"), ("location.type", "i32"),
                        ("location.id", "i32")],
}
WIRE_BYTES = {"u64": 8, "u32": 4, "i32": 4, "f32": 4}
WIRE_TYPES = {"u64": "std::uint64_t", "u32": "std::uint32_t", "i32": "std::int32_t", "f32": "float"}


class DescriptionError(Exception):
    """The description cannot be carried; the text starts with file:line."""


@dataclass
class Parameter:
    name: str
    ctype: str                      # "const void*", "size_t"
    words: dict = field(default_factory=dict)  # IN/OUT/CONSUMES/... -> list of arguments

    @property
    def is_pointer(self):
        return self.ctype.endswith("*") or self.ctype == "hipDeviceptr_t"

    @property
    def pointee(self):
        base = self.ctype[:-1].strip()
        return base.removeprefix("const ").removeprefix("struct ").removeprefix("enum ").strip()

    @property
    def direction(self):
        for word in ("CONSUMES", "INOUT", "OUT", "IN"):
            if word in self.words:
                return word
        return None

    @property
    def kind(self):
        """First word in the brackets of the direction: a handle kind, device, word, ... or ''."""
        arguments = self.words.get(self.direction, [])
        return re.match(r"\w*", arguments[0]).group() if arguments else ""

    @property
    def handle(self):
        return HANDLE_KINDS.get(self.kind)

    @property
    def arguments(self):
        """All that stands in the brackets of the direction."""
        return self.words.get(self.direction, [])

    @property
    def handle_type(self):
        """"hipStream_t" of `hipStream_t x`, and of `hipStream_t* x` that is OUT; None for other types."""
        base = self.pointee if self.ctype.endswith("*") and self.direction == "OUT" else self.ctype
        base = base.removeprefix("const ").strip()
        return base if base in HANDLE_TYPES else None

    @property
    def ordinal(self):
        return "ORDINAL" in self.words

    @property
    def optional(self):
        return "OPTIONAL" in self.words


@dataclass
class Function:
    name: str
    result: str
    parameters: list
    mode: str
    opcode: int
    where: str                      # proxy/api/stream.h:31
    domain: str
    checks: list
    mangled: str = ""
    c_linkage: bool = True
    alias: list = field(default_factory=list)
    since: str = ""
    cached: bool = False
    sends: str = ""                 # SENDS: the message's name
    given: dict = field(default_factory=dict)  # SENDS: field -> expression
    words: dict = field(default_factory=dict)  # of traits.py -> what stands in the brackets

    @property
    def message(self):
        return self.name.removeprefix("hip") if self.name.startswith("hip") else self.name

    @property
    def on_wire(self):
        return self.mode in ON_WIRE

    @property
    def posted(self):
        return self.mode in ("POST", "CREATE")

    def declaration(self, name=None, extra=""):
        parameters = ", ".join([extra] * bool(extra) + [f"{p.ctype} {p.name}" for p in self.parameters])
        return f"{self.result} {name or self.name}({parameters})"


@dataclass
class Field:
    name: str
    wire: str
    count: int = 1
    default: int = None             # where nobody gives a value; None: somebody must

    @property
    def bytes(self):
        return WIRE_BYTES[self.wire] * self.count

    @property
    def reserved(self):
        return self.name.startswith("reserved")


@dataclass
class Message:
    name: str
    opcode: int
    mode: str                       # call, post, notice
    request: list
    reply: list
    tail: bool
    where: str
    function: Function = None       # None: hand-written bodies
    words: dict = field(default_factory=dict)  # of traits.py -> what stands in the brackets


def padded(fields):
    """Big fields first, so that everything is naturally aligned, and explicit padding at the end."""
    ordered = sorted(fields, key=lambda f: -WIRE_BYTES[f.wire])
    size = sum(f.bytes for f in ordered)
    if any(f.wire == "u64" for f in ordered) and size % 8:
        ordered.append(Field("reserved", "u32"))
    return ordered


def flat(prefix, struct):
    return [(f"{prefix}_{member.replace('.', '_')}", wire, member) for member, wire in STRUCTS[struct]]


def request_fields(function):
    fields = []
    for p in function.parameters:
        if p.handle and p.direction == "OUT" or p.direction in ("IN", "CONSUMES") and p.handle:
            fields.append(Field(p.name, "u64"))
        elif p.direction == "OUT" or "ARRAY" in p.words:
            continue
        elif p.ordinal:
            fields.append(Field(p.name, "i32"))
        elif p.ctype in STRUCTS or p.direction == "IN" and p.kind == "" and p.pointee in STRUCTS:
            struct = p.ctype if p.ctype in STRUCTS else p.pointee
            fields += [Field(name, wire) for name, wire, _ in flat(p.name, struct)]
        elif p.kind in ("device", "word"):
            fields.append(Field(p.name, "u64"))
        elif p.ctype in SCALARS:
            fields.append(Field(p.name, SCALARS[p.ctype]))
        else:
            raise DescriptionError(f"{function.where}: {function.name}: cannot send '{p.ctype} {p.name}'")
    return padded(fields) or [Field("reserved", "u64")]


def reply_fields(function):
    fields = []
    for p in function.parameters:
        if p.direction != "OUT" or p.handle:
            continue
        wire = "u64" if p.kind in ("word", "device") else SCALARS.get(p.pointee)
        if wire is None:
            raise DescriptionError(f"{function.where}: {function.name}: cannot return '{p.ctype} {p.name}'")
        fields.append(Field(p.name, wire))
    return padded(fields)


def message_of(function):
    tail = any("ARRAY" in p.words and p.direction == "IN" for p in function.parameters)
    return Message(function.message, function.opcode, "post" if function.posted else "call",
                   request_fields(function), reply_fields(function), tail, function.where, function, function.words)
