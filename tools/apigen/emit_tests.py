# SPDX-License-Identifier: Apache-2.0
"""Round-trip tests and fuzz entry of every message, and API.md."""
from collections import Counter

import asks
from model import BANNER, BY_HAND, NOT_DONE, REASONS, WIRE_TYPES


def brief_test(message):
    """Of each field at the end, that the request is sent whole for it alone."""
    first = message.words.get("BRIEF")
    if first is None:
        return ""
    names = [f.name for f in message.request]
    own = "".join(f"""  {{
    {message.name}Request whole = sent;
    ++whole.{f.name};
    EXPECT_EQ(wire_bytes(whole), sizeof whole);
  }}
""" for f in message.request[names.index(first):])
    return f"""
TEST(Messages, {message.name}RequestLeavesOutItsEnd) {{  // {message.where}
  {message.name}Request sent;
  sent.{names[0]} = 7;
  const auto wire = wire_of(sent);
  EXPECT_EQ(wire.size(), offsetof({message.name}Request, {first}));
  EXPECT_TRUE(same(request_of<{message.name}Request>(wire), sent));
{own}}}
"""


def roundtrip_test(messages):
    tests = ""
    for m in messages:
        for suffix, fields in (("Request", m.request), ("Reply", m.reply)):
            if not fields:
                continue
            name = f"{m.name}{suffix}"
            sets = "".join(f"  fill(sent.{f.name}, {index + 1});\n" for index, f in enumerate(fields))
            checks = "".join(f"  EXPECT_TRUE(same(sent.{f.name}, received.{f.name})) << \"{f.name}\";\n"
                             for f in fields)
            reserved = any(f.reserved for f in fields) and suffix == "Request"
            refused = "  EXPECT_FALSE(validate(received));  // a reserved field is set\n" if reserved else ""
            tests += f"""
TEST(Messages, {name}) {{  // {m.where}
  {name} sent;
{sets}  std::array<std::byte, sizeof sent> wire;
  std::memcpy(wire.data(), &sent, sizeof sent);
  {name} received;
  std::memcpy(&received, wire.data(), sizeof received);
{checks}{refused}}}
"""
        tests += brief_test(m)
    return f"""{BANNER}// Every message through bytes and back, each field its own value; reserved fields are refused.
#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <span>

#include "hipcore/wire/gen/messages.h"
#include "hipcore/wire/gen/op_traits.h"
#include "hipcore/wire/gen/smi_messages.h"

namespace tf::protocol {{
namespace {{

template <typename T>
void fill(T& value, unsigned seed) {{
  unsigned char bytes[sizeof(T)];
  for (unsigned index = 0; index < sizeof bytes; ++index) bytes[index] = static_cast<unsigned char>(seed * 7 + index);
  std::memcpy(&value, bytes, sizeof bytes);
}}

template <typename T>
bool same(const T& left, const T& right) {{
  return std::memcmp(&left, &right, sizeof left) == 0;
}}
{tests}
TEST(Ops, AreSortedAndNamed) {{
  for (std::size_t index = 1; index < kOps.size(); ++index) EXPECT_LT(kOps[index - 1].op, kOps[index].op);
  for (const OpProperties& row : kOps) EXPECT_EQ(find_op(static_cast<std::uint16_t>(row.op)), &row);
  EXPECT_EQ(find_op(0xffff), nullptr);
}}

TEST(OpTraits, AreOfEveryOpAndOfNoOther) {{
  ASSERT_EQ(kOpTraits.size(), kOps.size());
  for (const OpProperties& row : kOps) EXPECT_EQ(traits_of(row.op).op, row.op) << row.name;
  EXPECT_EQ(traits_of(Op{{0xffff}}).traits, 0);
}}

}}  // namespace
}}  // namespace tf::protocol
"""


def _more(f):
    """What stands beside the mode: whose alias it is, which message it sends, why it is by hand."""
    return [*f.alias[:1], *filter(None, (f.sends, f.reason))]


def api_table(functions, messages, symbols):
    by_name = {f.name: f for f in functions}
    counts = Counter(f.mode for f in functions)
    described = {f.name for f in functions} | {f.mangled for f in functions} | {f.also for f in functions}
    rest = sorted(set(symbols) - described)
    rows = "".join(f"| `{f.name}` | {f.domain} | {f.mode}{''.join(' ' + word for word in _more(f))} | "
                   f"{asks.when(f, by_name, messages)} | {f.where} |\n"
                   for f in sorted(functions, key=lambda f: f.name))
    totals = "".join(f"| {mode} | {count} |\n" for mode, count in sorted(counts.items()))
    by_hand = Counter(f.reason for f in functions if f.mode in BY_HAND)
    reasons = "".join(f"| {reason} | {by_hand[reason]} | {why} |\n" for reason, why in REASONS.items())
    not_described = f"\nNot described yet: {', '.join(f'`{name}`' for name in rest)}\n" if rest else ""
    conditions = "".join(f"| {word} | {text} |\n" for word, text in asks.CONDITIONS.items())
    made = len(functions) - sum(by_hand.values()) - sum(counts[mode] for mode in ("COMPOSED", *NOT_DONE))
    return f"""# API

Generated from `proxy/api`. How each function travels is explained in `proxy/api/words.h`.

| word | functions |
|---|---|
{totals}| not described (exported, answers hipErrorNotSupported) | {len(rest)} |

Of {len(functions)} functions {made} are generated; {counts["COMPOSED"]} are made of other functions of HIP
(`hipcore/composed`); {sum(by_hand.values())} are written by hand:

| reason | functions | why |
|---|---|---|
{reasons}
When a call waits for an answer of the worker. Without an entry in the table below, a call never does: what it posts
is done later, and a failure is returned by a later call. Over tcp and rdma, a call that uses host memory for the first
time also waits until the worker has memory for it.

| waits | when |
|---|---|
{conditions}
| function | domain | travels | waits | described at |
|---|---|---|---|---|
{rows}{not_described}"""
