# SPDX-License-Identifier: Apache-2.0
"""worker/gen/: handlers, the dispatch table, declarations of the hand-written bodies."""
import re

from model import BANNER, SCALARS, STRUCTS, flat


# Opcode range -> file of its handlers.
RANGES = {0x00: "connection", 0x01: "device", 0x02: "memory", 0x03: "stream", 0x04: "event", 0x05: "module",
          0x06: "graph"}


def snake(name):
    return re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name).lower()


def argument(p):
    """(lines before the call, expression passed to the runtime)."""
    if p.handle and p.direction in ("IN", "CONSUMES"):
        verb = "unbind" if p.direction == "CONSUMES" else "lookup"
        lines = [f"void* {p.name} = nullptr;"]
        test = f"!call.{verb}(protocol::HandleKind::{p.handle}, request.{p.name}, {p.name})"
        guard = f"request.{p.name} != 0 && " if p.optional else ""
        return lines + [f"if ({guard}{test}) return;"], f"static_cast<{p.ctype.removeprefix('const ')}>({p.name})"
    if p.handle:
        return [f"{p.pointee} {p.name} = nullptr;"], f"&{p.name}"
    if p.kind == "word":
        return [f"std::uint64_t {p.name} = {'request.' + p.name if p.direction == 'IN' else '0'};"], f"&{p.name}"
    if p.direction == "OUT":
        return [f"{p.pointee} {p.name}{{}};"], f"&{p.name}"
    if "ARRAY" in p.words:
        count = p.words["ARRAY"][0]
        check = f"if (call.tail().size() != std::size_t{{request.{count}}} * sizeof({p.pointee}))"
        return ([f"{check} {{", f"  call.reject(\"{p.name}: the tail has another length than its count says\");",
                 "  return;", "}", f"std::vector<{p.pointee}> {p.name}(request.{count});",
                 f"std::ranges::copy(call.tail(), std::as_writable_bytes(std::span({p.name})).begin());"],
                f"{p.name}.data()")
    struct = p.ctype if p.ctype in STRUCTS else p.pointee if p.is_pointer and p.pointee in STRUCTS else None
    if struct:
        lines = [f"{struct} {p.name}{{}};"]
        for name, wire, member in flat(p.name, struct):
            value = f"reinterpret_cast<void*>(request.{name})" if member == "ptr" else f"request.{name}"
            cast = value if member == "ptr" else f"static_cast<decltype({p.name}.{member})>({value})"
            lines.append(f"{p.name}.{member} = {cast};")
        return lines, f"&{p.name}" if p.is_pointer else p.name
    if p.kind == "device":
        return [], f"reinterpret_cast<{p.ctype}>(request.{p.name})"
    wire_value = f"request.{p.name}"
    return [], f"static_cast<{p.ctype}>({wire_value})" if p.ctype in SCALARS else wire_value


def range_checks(function):
    """Device addresses of the request must lie in the session's memory, as far as the description says."""
    lines = []
    for p in function.parameters:
        if p.kind != "device" or p.direction != "IN" or len(p.words["IN"]) < 2:
            continue
        extent = p.words["IN"][1]
        address = f"request.{p.name}" if p.ctype not in STRUCTS else f"request.{p.name}_ptr"
        expression = extent
        for q in function.parameters:
            if q.ctype in STRUCTS:
                for name, _, member in flat(q.name, q.ctype):
                    expression = re.sub(rf"\b{q.name}\.{member}\b", f"request.{name}", expression)
                expression = re.sub(rf"\b{q.name}\b(?!_)", q.name, expression)
            else:
                expression = re.sub(rf"(?<![\w.]){q.name}\b", f"request.{q.name}", expression)
        lines.append(f"if (!call.owns({address}, {expression})) return;")
    return lines


def handler(message):
    f = message.function
    name = f"handle_{snake(message.name)}"
    if f is None:
        return f"""// {message.where}
void {name}(Call& call) {{
  protocol::{message.name}Request request;
  if (!call.decode(request)) return;
  if (!validate(request)) return static_cast<void>(call.reject("{message.name}: a reserved field is not zero"));
  custom::{snake(message.name)}(call, request);
}}
"""
    before, passed = [], []
    for p in f.parameters:
        lines, expression = argument(p)
        before += lines
        passed.append(expression)
    # Structs first: range checks may speak of them.
    lines = before + range_checks(f)
    stream = next((f"request.{p.name}" for p in f.parameters if p.kind == "stream" and p.direction == "IN"), None)
    body = "\n  ".join(lines)
    body = f"\n  {body}" if body else ""
    text = f"""// {f.where}
void {name}(Call& call) {{
  protocol::{message.name}Request request;
  if (!call.decode(request)) return;
  if (!validate(request)) return static_cast<void>(call.reject("{message.name}: a reserved field is not zero"));
  if (!call.use_device()) return;{body}
  const hipError_t error = call.hip().{f.name}({', '.join(passed)});
"""
    created = next((p for p in f.parameters if p.handle and p.direction == "OUT"), None)
    if created:
        text += (f"  if (error == hipSuccess && !call.bind(protocol::HandleKind::{created.handle}, "
                 f"request.{created.name}, {created.name})) return;\n")
    if message.mode == "call":
        if message.reply:
            text += f"  protocol::{message.name}Reply reply;\n"
            for p in f.parameters:
                if p.direction == "OUT" and not p.handle:
                    text += f"  reply.{p.name} = static_cast<decltype(reply.{p.name})>({p.name});\n"
            text += "  call.reply(error, std::as_bytes(std::span(&reply, 1)));\n"
        else:
            text += "  call.reply(error);\n"
    else:
        text += f"  call.finish(error{', ' + stream if stream else ''});\n"
    return text + "}\n"


def custom_header(messages, structs="hipcore/wire/gen/messages.h"):
    """`structs`: the header that has the messages."""
    lines = "".join(f"void {snake(m.name)}(Call& call, const protocol::{m.name}Request& request);\n"
                    for m in messages if m.function is None and m.mode != "notice")
    return f"""{BANNER}// The hand-written bodies: worker/handlers defines each of these.
#pragma once

#include "{structs}"
#include "worker/session/call.h"

namespace tf::worker::custom {{

{lines}
}}  // namespace tf::worker::custom
"""


def handlers_source(messages, custom="worker/gen/custom.h"):
    """`custom`: the header that has their hand-written bodies."""
    return f"""{BANNER}#include "worker/gen/handlers.h"

#include <algorithm>
#include <span>
#include <vector>

#include "hipcore/wire/gen/messages.h"
#include "worker/session/call.h"
#include "{custom}"

namespace tf::worker {{

{chr(10).join(handler(m) for m in messages)}
}}  // namespace tf::worker
"""


def handlers_header(messages):
    lines = "".join(f"void handle_{snake(m.name)}(Call& call);\n" for m in messages if m.mode != "notice")
    return f"""{BANNER}#pragma once

namespace tf::worker {{

class Call;
{lines}
}}  // namespace tf::worker
"""


def dispatch(messages, smi_messages):
    requests = [m for m in messages + smi_messages if m.mode != "notice"]
    columns = max(m.opcode & 0xff for m in requests) + 1
    rows = max(m.opcode >> 8 for m in requests) + 1
    fill = "".join(f"  at(table, Op::k{m.name}) = {{handle_{snake(m.name)}, traits_of(Op::k{m.name})}};\n"
                   for m in requests if m not in smi_messages)
    fill += "".join(f"  at(table, protocol::{m.name}Request::kOp) = {{handle_{snake(m.name)}, "
                    f"{{.op = protocol::{m.name}Request::kOp}}}};\n" for m in smi_messages)
    header = f"""{BANNER}#pragma once

#include "worker/session/dispatch.h"

namespace tf::worker {{

// Which handler executes which request of this version.
const DispatchTable& dispatch_table();

}}  // namespace tf::worker
"""
    source = f"""{BANNER}#include "worker/gen/dispatch.h"

#include <array>
#include <cstddef>

#include "hipcore/wire/gen/smi_messages.h"
#include "worker/gen/handlers.h"

namespace tf::worker {{
namespace {{

using protocol::Op;
using protocol::traits_of;

constexpr std::size_t kColumns = {columns};  // of the low byte
using Table = std::array<Dispatch, {rows} * kColumns>;

constexpr Dispatch& at(Table& table, Op op) {{
  const auto opcode = static_cast<std::size_t>(op);
  return table[(opcode >> 8) * kColumns + (opcode & 0xff)];
}}

constexpr Table make_table() {{
  Table table{{}};
{fill}  return table;
}}

constexpr Table kTable = make_table();

constexpr DispatchTable kDispatchTable{{kTable, kColumns}};

}}  // namespace

const DispatchTable& dispatch_table() {{ return kDispatchTable; }}

}}  // namespace tf::worker
"""
    return header, source
