# SPDX-License-Identifier: Apache-2.0
"""hipcore/wire/gen/: op.h, op_traits.h, messages.h, notices.h, schema.h, hip_table.{h,cc}."""
import hashlib

from model import BANNER, WIRE_TYPES
from traits import TRAITS, traits_of


def op_header(messages):
    values = "".join(f"  k{m.name} = 0x{m.opcode:04x},  // {m.mode}, {m.where}\n" for m in messages)
    rows = "".join(f'    {{Op::k{m.name}, OpMode::k{m.mode.capitalize()}, "{m.name}"}},\n' for m in messages)
    return f"""{BANNER}#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <string_view>

namespace tf::protocol {{

enum class Op : std::uint16_t {{
{values}}};

enum class OpMode : std::uint8_t {{ kCall, kPost, kNotice }};

struct OpProperties {{
  Op op;
  OpMode mode;
  std::string_view name;
}};

// Sorted by opcode.
inline constexpr std::array<OpProperties, {len(messages)}> kOps = {{{{
{rows}}}}};

// Null for a number that is no opcode of this version.
constexpr const OpProperties* find_op(std::uint16_t opcode) {{
  auto less = [](const OpProperties& row, std::uint16_t value) {{ return static_cast<std::uint16_t>(row.op) < value; }};
  auto row = std::lower_bound(kOps.begin(), kOps.end(), opcode, less);
  return row != kOps.end() && static_cast<std::uint16_t>(row->op) == opcode ? &*row : nullptr;
}}

// "StreamCreate", or "unknown".
constexpr std::string_view name(Op op) {{
  const OpProperties* row = find_op(static_cast<std::uint16_t>(op));
  return row != nullptr ? row->name : "unknown";
}}

}}  // namespace tf::protocol
"""


def struct(name, fields, statics):
    lines, asserts, offset = "", "", 0
    for f in fields:
        array = f"[{f.count}]" if f.count > 1 else ""
        initial = "{}" if f.count > 1 else f" = {f.default or 0}"
        lines += f"  {WIRE_TYPES[f.wire]} {f.name}{array}{initial};\n"
        asserts += f"static_assert(offsetof({name}, {f.name}) == {offset});\n"
        offset += f.bytes
    if not any(f.wire == "f32" for f in fields):
        asserts += f"static_assert(std::has_unique_object_representations_v<{name}>);\n"
    return f"""struct {name} {{
{statics}{lines}}};
static_assert(sizeof({name}) == {offset} && std::is_trivially_copyable_v<{name}>);
{asserts}"""


def validator(message):
    reserved = [f"request.{f.name} == 0" for f in message.request if f.reserved]
    argument = "request" if reserved else ""
    return (f"constexpr bool validate(const {message.name}Request& {argument}) "
            f"{{ return {' && '.join(reserved) or 'true'}; }}\n")


def brief(message):
    """How many bytes of a request travel, where fields with defaults are left out."""
    first = message.words.get("BRIEF")
    if first is None:
        return ""
    name = f"{message.name}Request"
    names = [f.name for f in message.request]
    left_out = message.request[names.index(first):]
    condition = " && ".join(f"request.{f.name} == {f.default}" for f in left_out)
    return f"""template <>
inline constexpr std::size_t kWireBytesMin<{name}> = offsetof({name}, {first});
constexpr std::size_t wire_bytes(const {name}& request) {{
  return {condition} ? kWireBytesMin<{name}> : sizeof request;
}}
"""


def structs(messages, op_of):
    """Of all messages. `op_of`: the opcode of one, as C++ initializes it."""
    text = ""
    for m in messages:
        statics = (f"  static constexpr Op kOp{op_of(m)};\n"
                   f"  static constexpr bool kHasTail = {str(m.tail).lower()};\n")
        text += f"\n// {m.where}\n" + struct(f"{m.name}Request", m.request, statics) + validator(m) + brief(m)
        if m.mode == "notice":
            text += f"using {m.name}Notice = {m.name}Request;\n"
        if m.reply:
            text += struct(f"{m.name}Reply", m.reply, "")
    return text


def smi_messages_header(messages):
    """Those of smi/api: no Op names them, so that HIP's side does not depend on them."""
    return f"""{BANNER}#pragma once

#include "hipcore/wire/gen/messages.h"

namespace tf::protocol {{
{structs(messages, lambda m: f"{{0x{m.opcode:04x}}}")}
}}  // namespace tf::protocol
"""


def messages_header(messages):
    text = structs(messages, lambda m: f" = Op::k{m.name}")
    return f"""{BANNER}#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <type_traits>

#include "hipcore/wire/gen/op.h"

namespace tf::protocol {{

// How many bytes of its fields a request needs at least, and this one: BRIEF leaves out fields at the end.
template <typename Request>
inline constexpr std::size_t kWireBytesMin = sizeof(Request);
template <typename Request>
constexpr std::size_t wire_bytes(const Request&) {{
  return sizeof(Request);
}}

// The bytes of its fields that travel.
template <typename Request>
std::span<const std::byte> wire_of(const Request& request) {{
  return std::as_bytes(std::span(&request, 1)).first(wire_bytes(request));
}}

// The request whose fields `wire` begins with; what was left out has its default. REQUIRES: kWireBytesMin bytes
template <typename Request>
Request request_of(std::span<const std::byte> wire) {{
  Request request;
  std::memcpy(static_cast<void*>(&request), wire.data(), std::min(wire.size(), sizeof request));
  return request;
}}

// In front of the fields of every reply.
struct ReplyPrefix {{
  std::int32_t error = 0;  // hipError_t
  // To a call with kFlagWithOutput: the bytes that kernels had printed by then, modulo 2^32; else 0.
  std::uint32_t output = 0;
}};
static_assert(sizeof(ReplyPrefix) == 8);
{text}
}}  // namespace tf::protocol
"""


def _row(m):
    traits = traits_of(m)

    def offset(name):
        return f"offsetof({m.name}Request, {name})" if name else "kNoField"
    bits = ", ".join(f"Trait::k{name}" for name in traits.names)
    return (f"    {{Op::k{m.name}, trait_bits({bits}), {offset(traits.stream)}, {offset(traits.event)}, "
            f"{offset(traits.flags)}}},\n")


def op_traits_header(messages):
    values = "".join(f"  k{name} = 1 << {bit},  // {text}\n" for bit, (name, text) in enumerate(TRAITS.items()))
    rows = "".join(_row(m) for m in messages)
    return f"""{BANNER}// What each operation means, for both sides: the words of proxy/api as a table.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

#include "hipcore/wire/gen/messages.h"
#include "hipcore/wire/gen/op.h"

namespace tf::protocol {{

enum class Trait : std::uint16_t {{
{values}}};

template <typename... Traits>
constexpr std::uint16_t trait_bits(Traits... traits) {{
  return static_cast<std::uint16_t>((0u | ... | static_cast<unsigned>(traits)));
}}

inline constexpr std::uint8_t kNoField = 0xff;

// Eight bytes, so that it travels in a register; where the request's type is known its bits are constants.
struct OpTraits {{
  Op op{{}};
  std::uint16_t traits = 0;        // Trait
  std::uint8_t stream = kNoField;  // offsets in the request
  std::uint8_t event = kNoField;
  std::uint8_t flags = kNoField;

  // Any of them.
  template <typename... Traits>
  constexpr bool has(Traits... any) const {{
    return (traits & trait_bits(any...)) != 0;
  }}
  // REQUIRES, of the following: `head` is a request of this operation. 0: it has no such field.
  std::uint64_t stream_of(std::span<const std::byte> head) const {{ return field<std::uint64_t>(head, stream); }}
  std::uint64_t event_of(std::span<const std::byte> head) const {{ return field<std::uint64_t>(head, event); }}
  std::uint32_t flags_of(std::span<const std::byte> head) const {{ return field<std::uint32_t>(head, flags); }}

 private:
  template <typename Value>
  static Value field(std::span<const std::byte> head, std::uint8_t offset) {{
    Value value = 0;
    if (offset != kNoField && offset + sizeof value <= head.size())
      std::memcpy(&value, head.data() + offset, sizeof value);
    return value;
  }}
}};
static_assert(sizeof(OpTraits) == 8);

// Sorted by opcode.
inline constexpr std::array<OpTraits, {len(messages)}> kOpTraits = {{{{
{rows}}}}};

// Of a number that is no opcode of this version: none.
constexpr OpTraits traits_of(Op op) {{
  auto less = [](const OpTraits& row, Op value) {{ return row.op < value; }};
  auto row = std::lower_bound(kOpTraits.begin(), kOpTraits.end(), op, less);
  return row != kOpTraits.end() && row->op == op ? *row : OpTraits{{}};
}}

template <typename Request>
inline constexpr OpTraits kTraits = traits_of(Request::kOp);

}}  // namespace tf::protocol
"""


def notices_header(messages):
    cases = ""
    for m in messages:
        if m.mode != "notice":
            continue
        fits = "<" if m.tail else "!="
        cases += f"""    case Op::k{m.name}: {{
      {m.name}Notice notice;
      if (payload.size() {fits} sizeof notice) return false;
      std::memcpy(&notice, payload.data(), sizeof notice);
      take(notice, payload.subspan(sizeof notice));
      return true;
    }}
"""
    return f"""{BANNER}#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

#include "hipcore/wire/gen/messages.h"

namespace tf::protocol {{

// Calls take(notice, tail) with the notice that a message from the worker is. False: it is none, or has another size.
template <typename Take>
bool take_notice(std::uint16_t opcode, std::span<const std::byte> payload, Take&& take) {{
  switch (static_cast<Op>(opcode)) {{
{cases}    default: return false;
  }}
}}

}}  // namespace tf::protocol
"""


def schema_header(messages):
    digest = hashlib.sha256()
    for m in messages:
        fields = [(f.name, f.wire, f.count) for f in m.request + m.reply]
        digest.update(repr((m.name, m.opcode, m.mode, m.tail, fields, m.words.get("BRIEF"))).encode())
    return f"""{BANNER}#pragma once

#include <cstdint>

namespace tf::protocol {{

// Of all names, opcodes, modes and fields: two builds with the same hash understand each other.
inline constexpr std::uint64_t kSchemaHash = 0x{digest.hexdigest()[:16]};

}}  // namespace tf::protocol
"""


def hip_table(functions):
    entries = [f for f in functions if f.result == "hipError_t" and not f.mangled and f.c_linkage
               and not f.name.startswith("__")]
    pointers = "".join(f"  hipError_t (*{f.name})({', '.join(p.ctype for p in f.parameters)}) = nullptr;\n"
                       for f in entries)
    header = f"""{BANNER}#pragma once

#include <hip/hip_runtime_api.h>

#include <string>
#include <vector>

#include "hipcore/newer/hip_types.h"

namespace tf::protocol {{

// The functions of a HIP runtime library, found by name. After load() none is null.
struct HipTable {{
{pointers}}};

// Fills the table from a library that dlopen() returned. What it lacks answers hipErrorNotSupported; returns
// the names of those.
std::vector<std::string> load(HipTable& table, void* library);

}}  // namespace tf::protocol
"""
    unsupported = "".join(
        f"hipError_t missing_{f.name}({', '.join(p.ctype for p in f.parameters)}) {{ return hipErrorNotSupported; }}\n"
        for f in entries)
    fills = "".join(f'  fill(table.{f.name}, missing_{f.name}, "{f.name}", library, missing);\n' for f in entries)
    source = f"""{BANNER}#include "hipcore/wire/gen/hip_table.h"

#include <dlfcn.h>

namespace tf::protocol {{
namespace {{

{unsupported}
template <typename Function>
void fill(Function& slot, Function substitute, const char* name, void* library, std::vector<std::string>& missing) {{
  slot = reinterpret_cast<Function>(::dlsym(library, name));
  if (slot != nullptr) return;
  slot = substitute;
  missing.emplace_back(name);
}}

}}  // namespace

std::vector<std::string> load(HipTable& table, void* library) {{
  std::vector<std::string> missing;
{fills}  return missing;
}}

}}  // namespace tf::protocol
"""
    return header, source
