# SPDX-License-Identifier: Apache-2.0
"""Refuses descriptions that were understood but cannot be carried: every rule names file:line and what to do."""
import re

from model import BY_HAND, HANDLE_TYPES, REASONS, STRUCTS, DescriptionError
from traits import check_traits

# Domain (file of proxy/api) -> high bytes of its opcodes; a domain that is not here has nothing on the wire.
DOMAIN_RANGES = {"device": (0x01,), "peer": (0x01,), "profiler": (0x01,), "memory": (0x02,), "host": (0x02,),
                 "pool": (0x02,), "vmm": (0x02,), "ipc": (0x02,), "stream": (0x03,), "event": (0x04,),
                 "module": (0x05,), "launch": (0x05,), "occupancy": (0x05,), "graph": (0x06, 0x07), "context": (0x09,)}
EXTENT_FUNCTIONS = {"rows", "slices", "elements"}  # hipcore/wire/extent.h
WIRE_KINDS = {"", "device", "word"}                # of IN and OUT parameters, besides handles


def refuse(where, why):
    raise DescriptionError(f"{where}: {why}")


def check_unique(functions, messages):
    for attribute, items in (("opcode", messages), ("name", messages), ("name", functions)):
        seen = {}
        for item in items:
            value = getattr(item, attribute)
            if value in seen:
                shown = f"0x{value:04x}" if attribute == "opcode" else value
                refuse(item.where, f"{attribute} {shown} is taken by {seen[value].where}")
            seen[value] = item


def check_extent(function, parameter, where):
    """`IN(device, bytes)`: without bytes the worker would pass on whatever address a client sends."""
    if len(parameter.arguments) != 2:
        refuse(where, f"'{parameter.name}': on the wire a device address needs its extent: IN(device, bytes)")
    names = {p.name for p in function.parameters} | EXTENT_FUNCTIONS
    for name in re.findall(r"(?<![\w.])[A-Za-z_]\w*", parameter.arguments[1]):
        if name not in names:
            refuse(where, f"'{parameter.name}': the extent speaks of '{name}', which is no parameter")


def check_wire_parameter(function, p, where):
    if p.direction == "INOUT" or "STRING" in p.words:
        refuse(where, f"'{p.name}': INOUT and STRING are not carried; make the function CUSTOM")
    if p.handle_type:
        if not p.handle:
            refuse(where, f"'{p.name}': handles of kind '{p.kind}' are not carried")
        if "ARRAY" in p.words:
            refuse(where, f"'{p.name}': an array of handles is not carried; make the function CUSTOM")
        if p.direction == "OUT" and function.mode != "CREATE":
            refuse(where, f"'{p.name}' is a new handle: only CREATE gives one")
        return
    if p.kind not in WIRE_KINDS:
        refuse(where, f"'{p.name}': kind '{p.kind}' is not carried; make the function CUSTOM")
    if p.direction == "OUT" and p.kind == "device":
        refuse(where, f"'{p.name}': a returned address is not carried; make the function CUSTOM")
    if p.kind == "device":
        check_extent(function, p, where)
    if "ARRAY" not in p.words:
        return
    if p.direction == "OUT":
        refuse(where, f"'{p.name}': OUT ARRAY is not carried; make the function CUSTOM")
    count = next((q for q in function.parameters if q.name == p.words["ARRAY"][0]), None)
    if count is None:
        refuse(where, f"'{p.name}': ARRAY({p.words['ARRAY'][0]}) names no parameter")
    if count.ctype not in ("size_t", "uint32_t", "uint64_t", "unsigned int", "unsigned"):
        refuse(where, f"'{p.name}': its count '{count.ctype} {count.name}' could be negative")


def check_on_wire(f):
    where = f"{f.where}: {f.name}"
    if f.result != "hipError_t":
        refuse(where, f"returns '{f.result}'; on the wire only hipError_t is carried")
    if not f.c_linkage:
        refuse(where, "C++ linkage is for CUSTOM functions only")
    ranges = DOMAIN_RANGES.get(f.domain, ())
    if f.opcode >> 8 not in ranges:
        allowed = " or ".join(f"0x{r:02x}xx" for r in ranges) or "none"
        refuse(where, f"opcode 0x{f.opcode:04x} is out of the range of {f.domain}.h: {allowed}")
    for p in f.parameters:
        check_wire_parameter(f, p, where)
    created = [p for p in f.parameters if p.direction == "OUT" and p.handle]
    outs = [p for p in f.parameters if p.direction == "OUT" and not p.handle]
    arrays = [p for p in f.parameters if "ARRAY" in p.words]
    if f.mode == "CREATE" and len(created) != 1:
        refuse(where, f"CREATE needs exactly one OUT(handle), not {len(created)}")
    if f.posted and outs:
        refuse(where, f"'{outs[0].name}' is OUT, but a {f.mode} is not answered; use CALL")
    if len(arrays) > 1:
        refuse(where, "a message has one tail: one ARRAY")
    if f.cached and f.mode == "CACHED" and not outs:
        refuse(where, "CACHED without anything to keep: no OUT parameter")
    if f.cached and arrays:
        refuse(where, "CACHED with an ARRAY: a tail is no part of the key")


def check_sends(f, messages):
    """Every field has its value, and every parameter its use: nothing that the program said gets lost."""
    where = f"{f.where}: {f.name}"
    message = messages.get(f.sends)
    if message is None or message.mode == "notice":
        refuse(f.where, f"{f.name}: SENDS of '{f.sends}', which is no post or call of messages.h")
    if f.result != "hipError_t" or not f.c_linkage:
        refuse(where, "SENDS is for C functions that return hipError_t")
    fields = {field.name: field for field in message.request if not field.reserved}
    own = {p.name: p for p in f.parameters}
    for name in f.given:
        if name not in fields:
            refuse(where, f"SENDS(..., {name} = ...): {f.sends} has no such field")
    for name, field in fields.items():
        if name not in f.given and name not in own and field.default is None:
            refuse(where, f"nothing for '{name}' of {f.sends}")
    said = " ".join([*f.given.values(), *f.checks])
    for p in f.parameters:
        if p.direction in ("OUT", "INOUT") or "ARRAY" in p.words or "STRING" in p.words or p.ordinal:
            refuse(where, f"'{p.name}': SENDS carries plain values, addresses and handles that exist")
        check_wire_parameter(f, p, where)
        if p.name not in fields and not re.search(rf"\b{p.name}\b", said):
            refuse(where, f"'{p.name}' would get lost: {f.sends} has no such field")


def check_answers(f):
    """Every OUT parameter that it promises is one, the others are spoken of, and the handles it wants are there."""
    where = f"{f.where}: {f.name}"
    if f.result != "hipError_t" or not f.c_linkage:
        refuse(where, "ANSWERS is for C functions that return hipError_t")
    own = {p.name: p for p in f.parameters}
    for name in f.given:
        if name not in own or own[name].direction != "OUT" or "ARRAY" in own[name].words:
            refuse(where, f"ANSWERS({name} = ...): that is no OUT parameter for one value")
    for p in f.parameters:
        if f.given and p.direction == "OUT" and p.name not in f.given:
            refuse(where, f"nothing for '{p.name}'")
    said = " ".join([f.answer, *f.given.values(), *f.checks])
    for p in f.parameters:
        if p.direction in ("OUT", "INOUT") and p.name not in f.given and not re.search(rf"\b{p.name}\b", said):
            refuse(where, f"'{p.name}' would get lost: the answer does not speak of it")
    for name in re.findall(r"\b(\w+)_handle\b", said):
        if name not in own or not own[name].handle or own[name].direction != "IN":
            refuse(where, f"'{name}_handle': '{name}' is no parameter IN(handle kind)")
    for p in f.parameters:
        if p.direction == "CONSUMES" and p.kind in ("stream", "event"):
            refuse(where, f"'{p.name}': giving up a handle is the message's business; use SENDS")


def check_by_hand(f):
    if f.reason not in REASONS:
        refuse(f.where, f"{f.name}: {f.mode}({f.reason}): no reason; known: {' '.join(sorted(REASONS))}")


def check_refused(f):
    if not re.fullmatch(r"[^\"'\\\n]+", f.reason):
        refuse(f.where, f"{f.name}: REFUSED needs the reason, without quotes")


def check_off_wire(f):
    where = f"{f.where}: {f.name}"
    if f.checks:
        refuse(where, f"CHECK is not looked at in a {f.mode}; put the test into the body")
    for p in f.parameters:
        if p.ordinal:
            refuse(where, f"'{p.name}': ORDINAL is not looked at in a {f.mode}; put the test into the body")


def check_linkage(f, symbols):
    if f.c_linkage == bool(f.mangled):
        refuse(f.where, f"{f.name}: MANGLED(symbol) goes with C++ linkage, and only with it")
    if f.also and f.also not in symbols:
        refuse(f.where, f"{f.name}: ALSO({f.also}) is in no symbol list")
    name = f.mangled or f.name
    if f.since and name in symbols:
        refuse(f.where, f"{name} is in the symbol list with {symbols[name]}; take SINCE away")


def check_alias(f, by_name):
    where = f"{f.where}: {f.name}"
    target = by_name.get(f.alias[0]) if f.alias else None
    if target is None:
        refuse(f.where, f"ALIAS of unknown function '{f.alias[0] if f.alias else ''}'")
    if target.mode == "ALIAS":
        refuse(where, f"{target.name} is an ALIAS itself; name {target.alias[0]}")
    if target.result != f.result:
        refuse(where, f"returns '{f.result}', {target.name} returns '{target.result}'")
    wanted, own = {p.name: p for p in target.parameters}, {p.name: p for p in f.parameters}
    fixed = set()
    for part in f.alias[1:]:
        match = re.fullmatch(r"(\w+) = .+", part, re.S)
        if not match and part != "then_synchronize":
            refuse(where, f"ALIAS(..., {part}): neither `name = value` nor then_synchronize")
        if match and (match.group(1) not in wanted or match.group(1) in own):
            refuse(where, f"ALIAS(..., {part}): {match.group(1)} is to be a parameter that only {target.name} has")
        fixed |= {match.group(1)} if match else set()
    for p in f.parameters:
        if p.name not in wanted:
            refuse(where, f"'{p.name}' would get lost: {target.name} has no such parameter")
    for p in target.parameters:
        thread_stream = p.kind == "stream" and f.name.endswith("_spt")
        if p.name not in own and p.name not in fixed and not thread_stream:
            refuse(where, f"nothing for '{p.name}' of {target.name}")


def check_functions(functions, messages, symbols):
    """`messages`: those of messages.h."""
    by_name = {f.name: f for f in functions}
    for f in functions:
        if f.words and not f.on_wire:
            refuse(f.where, f"{f.name}: {next(iter(f.words))} is not looked at in a {f.mode}; say it of the message")
        if f.on_wire:
            check_on_wire(f)
        if f.mode == "SENDS":
            check_sends(f, {m.name: m for m in messages})
        elif f.mode == "ANSWERS":
            check_answers(f)
        elif not f.on_wire:
            check_off_wire(f)
        if f.mode in BY_HAND:
            check_by_hand(f)
        if f.mode == "REFUSED":
            check_refused(f)
        if f.mode == "ALIAS":
            check_alias(f, by_name)
        check_linkage(f, symbols)


def check_messages(messages, ranges):
    """`ranges`: high bytes of opcodes for which handlers are written."""
    for m in messages:
        if m.opcode >> 8 not in ranges:
            known = " ".join(f"0x{r:02x}xx" for r in ranges)
            refuse(m.where, f"opcode 0x{m.opcode:04x}: no handlers are generated for its range, only for {known}")
        check_traits(m)
