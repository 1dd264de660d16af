# SPDX-License-Identifier: Apache-2.0
"""proxy/gen/: exported stubs by domain, declarations of hand-written bodies."""
import hashlib
import re

from model import BANNER, NOT_DONE, STRUCTS, flat

RTC_DOMAIN = "rtc"
# What the library exports besides the API: by the version a worker knows that what it is about to load is its own
# client; two are libhiprtc's way to the worker, and hip-remote info asks those of the worker.
OWN_SYMBOLS = ("hip_remote_proxy_version", "hip_remote_rtc_compile", "hip_remote_rtc_target",
               "hip_remote_worker_limits", "hip_remote_worker_walls")


def null_checks(function):
    tests = []
    for p in function.parameters:
        if not p.is_pointer or p.optional or p.handle and p.direction != "OUT" or p.kind in ("opaque", "host_function"):
            continue
        if p.kind == "device" and p.direction == "IN":
            continue  # the worker knows which addresses are good
        tests.append(f"{p.name} == nullptr")
    return tests


def send_lines(function):
    """Statements that fill `request` from the parameters. What takes or gives away a handle comes last, so that
    a parameter found wrong before it leaves the tables as they were."""
    lines, last, tail = [], [], "{}"
    for p in function.parameters:
        if p.handle and p.direction == "OUT":
            last.append(f"void* {p.name}_value = nullptr;")
            if not function.cached:
                last.append(f"if (!call.create(protocol::HandleKind::{p.handle}, request.{p.name}, {p.name}_value)) "
                            "return call.finish();")
        elif p.handle:
            consumed = p.direction == "CONSUMES"
            line = (f"if (!call.{'consume' if consumed else 'translate'}(protocol::HandleKind::{p.handle}, {p.name}, "
                    f"request.{p.name})) return call.finish();")
            (last if consumed else lines).append(line)
        elif p.ordinal:
            lines.append(f"if (!call.ordinal({p.name}, request.{p.name})) return call.finish();")
        elif p.direction == "OUT":
            continue
        elif "ARRAY" in p.words:
            tail = f"std::as_bytes(std::span({p.name}, {p.words['ARRAY'][0]}))"
        elif p.kind == "word":
            lines.append(f"std::memcpy(&request.{p.name}, {p.name}, {p.words['IN'][0][len('word('):-1]});")
        elif p.kind == "device" and p.ctype not in STRUCTS:
            lines.append(f"request.{p.name} = reinterpret_cast<std::uint64_t>({p.name});")
        elif p.ctype in STRUCTS or p.is_pointer and p.pointee in STRUCTS:
            struct, access = (p.ctype, ".") if p.ctype in STRUCTS else (p.pointee, "->")
            for name, _, member in flat(p.name, struct):
                value = f"{p.name}{access}{member}"
                value = f"reinterpret_cast<std::uint64_t>({value})" if member == "ptr" else value
                cast = value if member == "ptr" else f"static_cast<decltype(request.{name})>({value})"
                lines.append(f"request.{name} = {cast};")
        else:
            lines.append(f"request.{p.name} = static_cast<decltype(request.{p.name})>({p.name});")
    return lines + last, tail


def sent_lines(function, message):
    """As send_lines(), of a SENDS: field by field. What is not said keeps the message's default."""
    lines, last = [], []
    own = {p.name: p for p in function.parameters}
    for field in message.request:
        name, p = field.name, own.get(field.name)
        if name in function.given:
            lines.append(f"request.{name} = as_field<decltype(request.{name})>({function.given[name]});")
        elif p is not None and p.handle:
            consumed = p.direction == "CONSUMES"
            (last if consumed else lines).append(
                f"if (!call.{'consume' if consumed else 'translate'}(protocol::HandleKind::{p.handle}, {name}, "
                f"request.{name})) return call.finish();")
        elif p is not None:
            lines.append(f"request.{name} = as_field<decltype(request.{name})>({name});")
    return lines + last


def range_checks(function):
    """Device memory that the call touches must be the program's, as far as the description says how much it is."""
    field_of = {value: field for field, value in function.given.items()}
    lines = []
    for p in function.parameters:
        if p.kind == "device" and p.direction == "IN" and len(p.words["IN"]) > 1:
            address = f"{p.name}.ptr" if p.ctype in STRUCTS else p.name
            field = field_of.get(address, p.name)
            lines.append(f"if (!call.owns({address}, {p.words['IN'][1]}, request.{field})) return call.finish();")
    return lines


def wire_stub(f):
    name = f.message
    lines, tail = [], ""
    tests = null_checks(f)
    lines.append("ApiCall call;")
    if tests:
        lines.append(f"if ({' || '.join(tests)}) return call.finish(hipErrorInvalidValue);")
    lines += [f"if (!({check})) return call.finish(hipErrorInvalidValue);" for check in f.checks]
    lines += ["if (!call.connected()) return call.finish();", f"protocol::{name}Request request;"]
    fill, tail = send_lines(f)
    lines += fill + range_checks(f)
    outs = [p for p in f.parameters if p.direction == "OUT" and not p.handle]
    created = [p for p in f.parameters if p.direction == "OUT" and p.handle]
    tail_argument = "" if tail == "{}" else f", {tail}"
    if f.posted:
        if not created:
            return lines + [f"return call.post(request{tail_argument});"]
        p = created[0]
        send = f"call.post(request{tail_argument})"
        if f.cached:
            send = f"call.create_once(protocol::HandleKind::{p.handle}, request, request.{p.name}, {p.name}_value)"
        return lines + [f"const hipError_t error = {send};",
                        f"if (error == hipSuccess) *{p.name} = static_cast<{p.pointee}>({p.name}_value);",
                        "return error;"]
    if not outs:
        return lines + [f"return call.call(request{tail_argument});"]
    ask = "call.cached(request, reply)" if f.cached else f"call.call(request, reply{tail_argument})"
    lines += [f"protocol::{name}Reply reply;", f"const hipError_t error = {ask};",
              "if (error != hipSuccess) return error;"]
    for p in outs:
        if p.kind == "word":
            lines.append(f"std::memcpy({p.name}, &reply.{p.name}, {p.words['OUT'][0][len('word('):-1]});")
        else:
            assign = f"*{p.name} = static_cast<{p.pointee}>(reply.{p.name});"
            lines.append(f"if ({p.name} != nullptr) {assign}" if p.optional else assign)
    return lines + ["return error;"]


def sends_stub(f, message):
    tests = null_checks(f)
    lines = ["ApiCall call;"]
    if tests:
        lines.append(f"if ({' || '.join(tests)}) return call.finish(hipErrorInvalidValue);")
    lines += [f"if (!({check})) return call.finish(hipErrorInvalidValue);" for check in f.checks]
    lines += ["if (!call.connected()) return call.finish();", f"protocol::{message.name}Request request;"]
    return lines + sent_lines(f, message) + range_checks(f) + [f"return call.{message.mode}(request);"]


# Names that expressions of ANSWERS may use -> what they are.
ANSWER_NAMES = {
    "client": "Client& client = call.client();",
    "current": "const int current = call.device();",
    "captures": "Graphs& captures = call.client().graphs();",
    "graphs": "graph::Library& graphs = call.client().graphs().library();",
    "on": "const graph::StreamRef on = call.client().graphs().reference(call.device(), stream_handle);",
    "properties": "const protocol::DeviceProperties& properties = call.properties(device);",
    "snapshot": "const protocol::WorkerSnapshot& snapshot = call.client().snapshot();",
}


def answers_stub(f):
    given = [p for p in f.parameters if p.name in f.given]
    said = " ".join([f.answer, *f.given.values()])
    tests = [f"{p.name} == nullptr" for p in given if not p.optional]
    lines = ["ApiCall call;"]
    if tests:
        lines.append(f"if ({' || '.join(tests)}) return call.finish(hipErrorInvalidValue);")
    lines += [f"if (!({check})) return call.finish(hipErrorInvalidValue);" for check in f.checks]
    lines.append("if (!call.connected()) return call.finish();")
    lines += [f"if (!call.has_device({p.name})) return call.finish();" for p in f.parameters if p.ordinal]
    for p in f.parameters:
        if p.handle and p.direction == "IN" and (p.kind == "stream" or re.search(rf"\b{p.name}_handle\b", said)):
            lines += [f"std::uint64_t {p.name}_handle = 0;",
                      f"if (!call.translate(protocol::HandleKind::{p.handle}, {p.name}, {p.name}_handle)) "
                      "return call.finish();"]
    own = {p.name for p in f.parameters}
    checked = " ".join([said, *f.checks])
    lines += [f"static_cast<void>({p.name});" for p in f.parameters
              if not p.ordinal and p.kind != "stream" and p.name not in f.given
              and not re.search(rf"\b{p.name}(_handle)?\b", checked)]
    lines += [text for name, text in ANSWER_NAMES.items() if name not in own and re.search(rf"\b{name}\b", said)]
    for p in given:
        assign = f"*{p.name} = {f.given[p.name]};"
        lines.append(f"if ({p.name} != nullptr) {assign}" if p.optional else assign)
    return lines + [f"return call.finish({f.answer or 'hipSuccess'});"]


def alias_stub(f, by_name):
    target = by_name[f.alias[0]]  # check.py has seen to it that all the parameters fit
    given = {p.name: p for p in f.parameters}
    fixed = dict(part.split(" = ") for part in f.alias[1:] if " = " in part)
    per_thread = f.name.endswith("_spt")
    lines, passed = [], []
    for p in target.parameters:
        own = given.get(p.name)
        if own is None and p.kind == "stream" and per_thread:
            passed.append("hipStreamPerThread")
        elif own is None:
            passed.append(fixed[p.name])
        elif p.kind == "function" and own.kind == "host_function":
            lines += ["ApiCall call;",
                      "if (!call.connected()) return call.finish();",
                      "hipFunction_t resolved = nullptr;",
                      f"if (!call.registered({own.name}, resolved)) return call.finish();"]
            passed.append("resolved")
        elif p.kind == "stream" and per_thread:
            passed.append(f"{p.name} == nullptr ? hipStreamPerThread : {p.name}")
        else:
            passed.append(own.name)
    invoke = f"::{target.name}({', '.join(passed)})"
    if "then_synchronize" in f.alias:
        return lines + [f"const hipError_t error = {invoke};",
                        "return error != hipSuccess ? error : ::hipStreamSynchronize(hipStreamPerThread);"]
    return lines + [f"return {invoke};"]


def conversions(f):
    """Statements that bring what the majors lay out in different ways into our types."""
    return [f"const {p.converted} {p.name}_ours = "
            f"{p.name} != nullptr ? abi::from_program(*{p.name}) : {p.converted}{{}};"
            for p in f.parameters if p.converted]


def not_done_stub(f):
    """Says so once, and fails; what returns no error code returns zero."""
    call = f'refused("{f.name}", "{f.reason}")' if f.mode == "REFUSED" else f'unsupported("{f.name}")'
    lines = [f"static_cast<void>({p.name});" for p in f.parameters]
    if f.result == "hipError_t":
        return lines + [f"return {call};"]
    return lines + [f"static_cast<void>({call});"] + ["return {};"] * (f.result != "void")


def thrown_lines(f):
    """What the caller's C code gets instead of an exception: its error, remembered as any other."""
    if f.result == "hipError_t":
        return ["return note_error(error_of_exception());"]
    if f.result == "hiprtcResult":
        return ["return error_of_exception() == hipErrorOutOfMemory ? HIPRTC_ERROR_OUT_OF_MEMORY",
                "                                                   : HIPRTC_ERROR_INTERNAL_ERROR;"]
    return ["static_cast<void>(note_error(error_of_exception()));"] + ["return {};"] * (f.result != "void")


def stub(f, by_name, messages):
    arguments = [f"{p.name} != nullptr ? &{p.name}_ours : nullptr" if p.converted else p.name for p in f.parameters]
    returns = "" if f.result == "void" else "return "
    if f.mode == "ALIAS":
        lines = alias_stub(f, by_name)
    elif f.mode == "SENDS":
        lines = sends_stub(f, messages[f.sends])
    elif f.mode == "ANSWERS":
        lines = answers_stub(f)
    elif f.mode == "FORWARDS":
        handed_on = [f'"{f.name}"', f"&::{f.name}"] + arguments
        lines = [f"return forward_to_rtc({', '.join(handed_on)});"]
    elif f.mode == "LOCAL":
        lines = conversions(f) + [f"{returns}local::{f.name}({', '.join(arguments)});"]
    elif f.mode == "CUSTOM":
        lines = ["ApiCall call;", *conversions(f), f"{returns}custom::{f.name}({', '.join(['call'] + arguments)});"]
    elif f.mode in NOT_DONE:
        lines = not_done_stub(f)
    else:
        lines = wire_stub(f)
    if f.outside_captures:
        lines.insert(0, "if (const hipError_t refused = refuse_unsafe()) return refused;")
    if f.mode not in NOT_DONE:
        lines.insert(0, f"const stats::CallScope scope(Function::{enumerator(f.name)});")
    linkage = 'extern "C" ' if f.c_linkage else ""
    body = "\n  ".join(lines)
    thrown = "\n  ".join(thrown_lines(f))
    # A symbol that does not come from the function's name, or lies in a namespace, has to be given to the compiler.
    is_given = f.mangled and (f.name not in f.mangled or f.mangled.startswith("_ZN"))
    given = f'TF_API {f.declaration()} __asm__("{f.mangled}");\n' if is_given else ""
    return (f"// {f.where}\n{given}{linkage}TF_API {f.declaration()} try {{\n  {body}\n"
            f"}} catch (...) {{\n  {thrown}\n}}\n{second_name(f)}")


def second_name(f):
    """The function once more, under a C symbol; C++ has no two functions of one name that differ in linkage."""
    if not f.also:
        return ""
    declaration = f.declaration(name=f"tf_{f.also}")
    passed = ", ".join(p.name for p in f.parameters)
    return (f'extern "C" TF_API {declaration} __asm__("{f.also}");\n'
            f'extern "C" {declaration} {{ return ::{f.name}({passed}); }}\n')


def client_source(domain, functions, by_name, messages):
    """`messages`: those of messages.h by name."""
    modes = {f.mode for f in functions}
    more = {"ANSWERS": "proxy/exported/support.h", "FORWARDS": "proxy/exported/rtc.h"}
    includes = "".join(f'#include "{header}"\n' for mode, header in more.items() if mode in modes)
    body = "\n".join(stub(f, by_name, messages) for f in functions if f.mode != "COMPOSED")
    if any(f.also for f in functions):  # the second name calls the first, which the vendor may call deprecated
        includes += '#pragma GCC diagnostic ignored "-Wdeprecated-declarations"\n'
    return f"""{BANNER}#include <hip/hip_runtime_api.h>
#include <hip/hip_ext.h>

#include <cstring>
#include <span>

#include "hipcore/abi/layouts.h"
#include "hipcore/newer/hip_types.h"
#include "hipcore/wire/extent.h"
#include "hipcore/wire/fill.h"
#include "proxy/exported/api_call.h"
#include "proxy/exported/exported.h"
{includes}#include "proxy/gen/custom.h"
#include "proxy/gen/local.h"
#include "proxy/stats/counting.h"

using namespace tf;         // NOLINT: the stubs are C functions, outside every namespace
using namespace tf::proxy;  // NOLINT
using protocol::elements;
using protocol::rows;
using protocol::slices;

{body}"""


def graph_functions(functions):
    """Those that are nothing but an answer of the graph library to all they get: the runtimes have them too. One with
    a CHECK or an ORDINAL is more than that."""
    text = ""
    for f in functions:
        mentioned = all(re.search(rf"\b{p.name}\b", f.answer) for p in f.parameters)
        more = f.checks or any(p.kind == "stream" or p.ordinal for p in f.parameters)
        if f.mode == "ANSWERS" and "graphs." in f.answer and mentioned and not more:
            text += (f"\n{f.declaration()} {{\n"
                     f"  return with_graphs([&](graph::Library& graphs) {{ return {f.answer}; }});\n}}\n")
    return f"""{BANNER}// HIP's graph functions that need no stream, for runtimes: included inside the scope in which
// one defines HIP functions, after its with_graphs(body), the frame of an API call around body(graph::Library&).
{text}"""


def enumerator(name):
    """hipMemcpy -> kHipMemcpy, out of the way of macros by the functions' names."""
    bare = name.lstrip("_")
    return f"k{bare[0].upper()}{bare[1:]}"


def function_list(functions):
    """A number and a name for each exported function that does something: what proxy/stats counts by."""
    names = list(dict.fromkeys(f.name for f in functions if f.mode not in ("COMPOSED", *NOT_DONE)))
    values = "".join(f"  {enumerator(name)},\n" for name in names)
    texts = "".join(f'    "{name}",\n' for name in names)
    digest = hashlib.sha256(repr(names).encode()).hexdigest()[:16]
    return f"""{BANNER}#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace tf::proxy {{

enum class Function : std::uint16_t {{
{values}}};

inline constexpr std::array<std::string_view, {len(names)}> kFunctionNames = {{
{texts}}};

// Of all names in their order: two builds with the same hash mean the same by a number.
inline constexpr std::uint64_t kFunctionsHash = 0x{digest};

}}  // namespace tf::proxy
"""


def declarations(functions, mode_names, namespace, extra):
    lines = "".join(f"{f.declaration(extra=extra, ours=True)};\n" for f in functions if f.mode in mode_names)
    return f"""{BANNER}// The hand-written bodies: proxy/{namespace} defines each of these.
#pragma once

#include <hip/hip_runtime_api.h>
#include <hip/hiprtc.h>

#include "hipcore/abi/driver_copy.h"
#include "hipcore/newer/hip_types.h"
#include "proxy/exported/api_call.h"

namespace tf::proxy::{namespace} {{

{lines}
}}  // namespace tf::proxy::{namespace}
"""


def description_check(headers, functions):
    """A source that compiles the description after the vendor's headers: signature drift is an error."""
    includes = "".join(f'#include "proxy/api/{h}"\n' for h in headers)
    overloads = "".join(f"using only_{f.name} = decltype(&{f.name});\n" for f in functions if f.mangled)
    if overloads:
        overloads = f"""
// With C++ linkage a drifting signature is an overload; the address of an overloaded function has no type.
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
{overloads}"""
    return f"""{BANNER}// The description compiled after the vendor's headers: a signature that drifts does not compile.
#include <hip/hip_runtime_api.h>
#include <hip/hip_ext.h>
#include <hip/hiprtc.h>

#include "hipcore/newer/hip_types.h"
#include "proxy/api/words.h"
{includes}#include "proxy/api/words_end.h"
{overloads}"""
