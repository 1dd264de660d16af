#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Generates everything that follows from proxy/api and smi/api: see README.md beside this file.

usage: apigen.py [--api DIR] [--exports DIR] --out DIR [--list-outputs]
"""
import argparse
import pathlib
import sys

import asks
import emit_differential
import emit_protocol
import emit_proxy
import emit_tests
import emit_worker
import exports
from check import check_functions, check_messages, check_unique
from model import DescriptionError, message_of
from parse import parse_messages, parse_prototypes

ROOT = pathlib.Path(__file__).resolve().parents[2]
NOT_PROTOTYPES = {"words.h", "words_end.h"}
MESSAGES = "*messages.h"
SMI = 0x08  # high byte of the opcodes in smi/api
RTC = "rtc"


def read_description(api, symbols):
    paths = sorted(p for p in api.glob("*.h") if p.name not in NOT_PROTOTYPES and not p.match(MESSAGES))
    functions = [f for path in paths for f in parse_prototypes(path, f"proxy/api/{path.name}")]
    messages = [m for path in sorted(api.glob(MESSAGES)) for m in parse_messages(path, f"proxy/api/{path.name}")]
    check_functions(functions, messages, symbols)
    messages += [message_of(f) for f in functions if f.on_wire]
    return paths, functions, sorted(messages, key=lambda m: m.opcode)


def read_smi(api):
    messages = parse_messages(api / "messages.h", "smi/api/messages.h")
    check_messages(messages, [SMI])
    return messages


def exported(functions, symbols, elsewhere):
    """Symbol -> version node, of all that the library of one major defines. `elsewhere`: symbols of other majors."""
    result = dict(symbols)
    for f in functions:
        name = f.mangled or f.name
        if name in result or f.domain == RTC or name in elsewhere:
            continue
        if not f.since:
            raise DescriptionError(f"{f.where}: {f.name} is in no symbol list; give its node with SINCE(hip_x.y)")
        result[name] = f.since
    return result


def library_outputs(functions, lists):
    """Of the library of each major: version script, and what it has no function for."""
    described = {f.mangled or f.name for f in functions} | {f.also for f in functions}
    everything = set().union(*lists.values())
    outputs, symbols_of = {}, {}
    for major, symbols in lists.items():
        symbols = symbols_of[major] = exported(functions, symbols, everything)
        own = {name: exports.OWN_NODE for name in emit_proxy.OWN_SYMBOLS}
        outputs[f"proxy/gen/exports_{major}.map"] = exports.version_script(symbols | own)
        outputs[f"proxy/gen/unsupported_{major}.cc"] = exports.unsupported_source(
            sorted(set(symbols) - described), '#include "proxy/exported/exported.h"\n', "tf::proxy::unsupported")
    return outputs, symbols_of


def generate(api, folder=ROOT / "hipcore/exports", smi_api=ROOT / "smi/api"):
    """`folder`: majors and their symbols."""
    lists = exports.read_lists(folder)
    nodes = {name: node for symbols in reversed(lists.values()) for name, node in symbols.items()}
    paths, functions, messages = read_description(api, nodes)
    smi_messages = read_smi(smi_api)
    check_unique(functions, messages + smi_messages)
    asks.check(functions)
    check_messages(messages, emit_worker.RANGES)
    by_name = {f.name: f for f in functions}
    sent = {m.name: m for m in messages if m.function is None}
    table_header, table_source = emit_protocol.hip_table(functions)
    dispatch_header, dispatch_source = emit_worker.dispatch(messages, smi_messages)
    libraries, symbols_of = library_outputs(functions, lists)
    values = emit_differential.read_values(ROOT / "tests/differential/values.txt")
    outputs = {
        "hipcore/wire/gen/op.h": emit_protocol.op_header(messages),
        "hipcore/wire/gen/op_traits.h": emit_protocol.op_traits_header(messages),
        "hipcore/wire/gen/messages.h": emit_protocol.messages_header(messages),
        "hipcore/wire/gen/smi_messages.h": emit_protocol.smi_messages_header(smi_messages),
        "hipcore/wire/gen/majors.h": exports.majors_header(exports.read_majors(folder)),
        "hipcore/wire/gen/notices.h": emit_protocol.notices_header(messages),
        "hipcore/wire/gen/schema.h": emit_protocol.schema_header(messages + smi_messages),
        "hipcore/wire/gen/hip_table.h": table_header,
        "hipcore/wire/gen/hip_table.cc": table_source,
        "hipcore/graph/gen/functions.inc": emit_proxy.graph_functions(functions),
        "proxy/gen/custom.h": emit_proxy.declarations(functions, ("CUSTOM",), "custom", "ApiCall& call"),
        "proxy/gen/local.h": emit_proxy.declarations(functions, ("LOCAL",), "local", ""),
        "proxy/gen/functions.h": emit_proxy.function_list(functions),
        "proxy/gen/description.cc": emit_proxy.description_check([p.name for p in paths], functions),
        **libraries,
        "worker/gen/custom.h": emit_worker.custom_header(messages),
        "worker/gen/custom_smi.h": emit_worker.custom_header(smi_messages, "hipcore/wire/gen/smi_messages.h"),
        "worker/gen/handlers.h": emit_worker.handlers_header(messages + smi_messages),
        "worker/gen/handlers_smi.cc": emit_worker.handlers_source(smi_messages, "worker/gen/custom_smi.h"),
        "worker/gen/dispatch.h": dispatch_header,
        "worker/gen/dispatch.cc": dispatch_source,
        "tests/gen/differential_table.cc": emit_differential.table(functions, symbols_of, values),
        "tests/gen/messages_test.cc": emit_tests.roundtrip_test(messages + smi_messages),
        "tests/gen/round_trips.json": asks.table(functions, sent),
        "API.md": emit_tests.api_table(functions, sent, set().union(*symbols_of.values())),
    }
    for path in paths:
        own = [f for f in functions if f.domain == path.stem]
        outputs[f"proxy/gen/client_{path.stem}.cc"] = emit_proxy.client_source(path.stem, own, by_name, sent)
    for number, title in emit_worker.RANGES.items():
        own = [m for m in messages if m.opcode >> 8 == number and m.mode != "notice"]
        outputs[f"worker/gen/handlers_{title}.cc"] = emit_worker.handlers_source(own)
    return outputs


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--api", type=pathlib.Path, default=ROOT / "proxy/api")
    parser.add_argument("--exports", type=pathlib.Path, default=ROOT / "hipcore/exports")
    parser.add_argument("--out", type=pathlib.Path, required=True)
    parser.add_argument("--list-outputs", action="store_true", help="print the files that would be written")
    options = parser.parse_args()
    try:
        outputs = generate(options.api, options.exports)
    except DescriptionError as error:
        print(f"apigen: {error}", file=sys.stderr)
        return 1
    if options.list_outputs:
        print("\n".join(sorted(outputs)))
        return 0
    for name, text in outputs.items():
        path = options.out / name
        if path.exists() and path.read_text() == text:
            continue  # unchanged files keep their time, so nothing is compiled again
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
