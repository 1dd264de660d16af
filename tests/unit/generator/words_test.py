#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What the generator makes of every word of the description."""
import json
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

import description
from description import generate


def stub(outputs, domain, name):
    """The text of one exported function."""
    source = outputs[f"proxy/gen/client_{domain}.cc"]
    start = source.index(f" {name}(")
    return source[start:source.index("\n}\n", start)]


def handler(outputs, title, name):
    source = outputs[f"worker/gen/handlers_{title}.cc"]
    start = source.index(f"void handle_{name}(")
    return source[start:source.index("\n}\n", start)]


class Travel(unittest.TestCase):
    def test_call(self):
        outputs = generate(stream="CALL(0x0310) hipError_t hipPlain(IN(stream) hipStream_t s, OUT() int* value);")
        text = stub(outputs, "stream", "hipPlain")
        self.assertIn("call.call(request, reply)", text)
        self.assertIn("*value = static_cast<int>(reply.value);", text)
        self.assertIn("if (value == nullptr) return call.finish(hipErrorInvalidValue);", text)
        self.assertIn("call.translate(protocol::HandleKind::kStream, s, request.s)", text)
        self.assertIn("reply.value = static_cast<decltype(reply.value)>(value);", handler(outputs, "stream", "plain"))
        self.assertIn("kPlain = 0x0310,  // call", outputs["hipcore/wire/gen/op.h"])

    def test_post(self):
        outputs = generate(stream="POST(0x0310) WORK(s) CAPTURE(asked) hipError_t hipPlain(IN(stream) hipStream_t s, "
                                  "int value);")
        self.assertIn("return call.post(request);", stub(outputs, "stream", "hipPlain"))
        self.assertIn("call.finish(error, request.s);", handler(outputs, "stream", "plain"))

    def test_create(self):
        outputs = generate(event="CREATE(0x0410) hipError_t hipPlain(OUT(event) hipEvent_t* e, "
                                 "IN(stream) hipStream_t s);")
        text = stub(outputs, "event", "hipPlain")
        self.assertLess(text.index("call.translate("), text.index("call.create("), "a wrong stream would leak a handle")
        self.assertIn("*e = static_cast<hipEvent_t>(e_value);", text)
        self.assertIn("call.bind(protocol::HandleKind::kEvent, request.e, e)", handler(outputs, "event", "plain"))

    def test_cached(self):
        outputs = generate(stream="CACHED(0x0310) hipError_t hipPlain(IN(stream) hipStream_t s, OUT() int* value);")
        self.assertIn("call.cached(request, reply)", stub(outputs, "stream", "hipPlain"))

    def test_create_cached(self):
        outputs = generate(pool="CREATE(0x0280) CACHED() hipError_t hipPlain(OUT(pool) hipMemPool_t* p, "
                                "ORDINAL int device);")
        text = stub(outputs, "pool", "hipPlain")
        self.assertIn("call.create_once(protocol::HandleKind::kMemPool, request, request.p, p_value)", text)
        self.assertNotIn("call.create(", text)
        self.assertLess(text.index("call.ordinal(device, request.device)"), text.index("create_once"))

    def test_composed(self):
        outputs = generate(memory="COMPOSED hipError_t hipPlain(size_t bytes);")
        self.assertNotIn("hipPlain(size_t bytes) {", outputs["proxy/gen/client_memory.cc"])
        self.assertNotIn('__asm__("hipPlain")', outputs["proxy/gen/unsupported_5.cc"])
        self.assertIn("    hipPlain;\n", outputs["proxy/gen/exports_5.map"])
        self.assertNotIn("kHipPlain", outputs["proxy/gen/functions.h"])
        self.assertIn("| `hipPlain` | memory | COMPOSED |", outputs["API.md"])

    def test_custom(self):
        outputs = generate(stream="CUSTOM(books) hipError_t hipPlain(int a);")
        self.assertIn("return custom::hipPlain(call, a);", stub(outputs, "stream", "hipPlain"))
        self.assertIn("hipError_t hipPlain(ApiCall& call, int a);", outputs["proxy/gen/custom.h"])
        self.assertNotIn("kPlain", outputs["hipcore/wire/gen/op.h"])
        self.assertIn("| `hipPlain` | stream | CUSTOM books |", outputs["API.md"])
        self.assertIn("Of 1 functions 0 are generated; 0 are made of other functions of HIP\n"
                      "(`hipcore/composed`); 1 are written by hand:", outputs["API.md"])

    def test_answers(self):
        outputs = generate(device="""
            ANSWERS(a = properties.major, b = current) CHECK(c != 9)
            hipError_t hipPlain(OUT() int* a, OUT() OPTIONAL int* b, int c, ORDINAL int device);
            ANSWERS(client.ask(e_handle, p)) hipError_t hipOther(IN(event) hipEvent_t e, IN(stream) hipStream_t s,
                                                                  IN(host) void* p, int unused);""")
        text = stub(outputs, "device", "hipPlain")
        lines = ["if (a == nullptr) return call.finish(hipErrorInvalidValue);",
                 "if (!(c != 9)) return call.finish(hipErrorInvalidValue);",
                 "if (!call.connected()) return call.finish();",
                 "if (!call.has_device(device)) return call.finish();",
                 "const int current = call.device();",
                 "const protocol::DeviceProperties& properties = call.properties(device);",
                 "*a = properties.major;", "if (b != nullptr) *b = current;", "return call.finish(hipSuccess);"]
        places = [text.index(line) for line in lines]
        self.assertEqual(places, sorted(places), "in this order")
        text = stub(outputs, "device", "hipOther")
        for line in ("call.translate(protocol::HandleKind::kEvent, e, e_handle)", "static_cast<void>(unused);",
                     "call.translate(protocol::HandleKind::kStream, s, s_handle)", "Client& client = call.client();",
                     "return call.finish(client.ask(e_handle, p));"):
            self.assertIn(line, text)
        self.assertNotIn("nullptr", text, "what is not given is not looked at")
        self.assertIn("Of 2 functions 2 are generated; 0 are made of other functions of HIP\n"
                      "(`hipcore/composed`); 0 are written by hand:", outputs["API.md"])

    def test_answers_of_the_graph_library_are_the_runtimes_too(self):
        outputs = generate(graph="""
            ANSWERS(graphs.add(g, n)) hipError_t hipPlain(IN(graph) hipGraph_t g, size_t n);
            ANSWERS(graphs.print(g)) hipError_t hipOther(IN(graph) hipGraph_t g, unsigned int unused);
            ANSWERS(graphs.launch(s_handle)) hipError_t hipTarget(IN(stream) hipStream_t s);
            ANSWERS(graphs.ask(g, n)) CHECK(n > 0) hipError_t hipTarget_spt(IN(graph) hipGraph_t g, size_t n);
            ANSWERS(graphs.on(g, d)) SINCE(hip_5.3) hipError_t hipNew(IN(graph) hipGraph_t g, ORDINAL int d);""")
        text = outputs["hipcore/graph/gen/functions.inc"]
        self.assertIn("hipError_t hipPlain(hipGraph_t g, size_t n) {\n"
                      "  return with_graphs([&](graph::Library& graphs) { return graphs.add(g, n); });\n}\n", text)
        self.assertNotIn("hipOther", text)
        self.assertNotIn("hipTarget", text, "neither what takes a stream nor what has a CHECK")
        self.assertNotIn("hipNew", text, "ORDINAL is a check, too")
        self.assertIn("graph::Library& graphs = call.client().graphs().library();", stub(outputs, "graph", "hipPlain"))

    def test_forwards(self):
        text = stub(generate(rtc="FORWARDS hiprtcResult hiprtcPlain(int a);"), "rtc", "hiprtcPlain")
        self.assertIn('return forward_to_rtc("hiprtcPlain", &::hiprtcPlain, a);', text)

    def test_sends(self):
        messages = description.MESSAGES + ("MESSAGE(0x0305, post, Sent) NO_WORK "
                                           "{ u64 at; u64 s; u64 n = 7; u32 v; u32 w = 3; };\n"
                                           "MESSAGE(0x0306, call, Asked) { u64 e; };\n")
        outputs = generate(messages=messages, stream="""
            SENDS(Sent, at = box.ptr, v = a << 1) CHECK(a != 0) hipError_t hipPlain(
                IN(device, box.pitch) hipPitchedPtr box, int a, IN(stream) hipStream_t s);
            SENDS(Asked) hipError_t hipOther(CONSUMES(event) hipEvent_t e);""")
        text = stub(outputs, "stream", "hipPlain")
        for line in ("protocol::SentRequest request;", "if (!(a != 0)) return call.finish(hipErrorInvalidValue);",
                     "request.at = as_field<decltype(request.at)>(box.ptr);",
                     "request.v = as_field<decltype(request.v)>(a << 1);",
                     "call.translate(protocol::HandleKind::kStream, s, request.s)",
                     "if (!call.owns(box.ptr, box.pitch, request.at)) return call.finish();",
                     "return call.post(request);"):
            self.assertIn(line, text)
        self.assertNotIn("request.n", text, "the message's default")
        text = stub(outputs, "stream", "hipOther")
        self.assertIn("call.consume(protocol::HandleKind::kEvent, e, request.e)", text)
        self.assertIn("return call.call(request);", text)
        self.assertIn("std::uint64_t n = 7;", outputs["hipcore/wire/gen/messages.h"])
        self.assertIn("std::uint32_t w = 3;", outputs["hipcore/wire/gen/messages.h"])
        self.assertNotIn("kPlain", outputs["hipcore/wire/gen/op.h"])

    def test_local_and_unsupported(self):
        outputs = generate(error="LOCAL(thread) const char* hipPlain(int a);\nUNSUPPORTED hipError_t hipOther(int b);")
        self.assertIn("return local::hipPlain(a);", stub(outputs, "error", "hipPlain"))
        self.assertIn("const char* hipPlain(int a);", outputs["proxy/gen/local.h"])
        self.assertIn('return unsupported("hipOther");', stub(outputs, "error", "hipOther"))

    def test_refused(self):
        outputs = generate(error="REFUSED(no such\n  thing there) hipError_t hipPlain(int a);\n"
                                 "REFUSED(why) void hipOther(int b);\nREFUSED(why) bool hipTarget();")
        text = stub(outputs, "error", "hipPlain")
        self.assertIn("static_cast<void>(a);", text)
        self.assertIn('return refused("hipPlain", "no such thing there");', text)
        self.assertNotIn("CallScope", text)
        text = stub(outputs, "error", "hipOther")
        self.assertIn('static_cast<void>(refused("hipOther", "why"));', text)
        self.assertNotIn("return", text)
        self.assertIn("return {};", stub(outputs, "error", "hipTarget"))
        self.assertIn("| `hipPlain` | error | REFUSED no such thing there |", outputs["API.md"])
        self.assertIn("Of 3 functions 0 are generated; 0 are made of other functions", outputs["API.md"])

    def test_a_name_inside_a_namespace(self):
        outputs = generate(raw=True, launch="LOCAL(thread) MANGLED(_ZN3any8hipPlainEi) SINCE(hip_4.2) "
                                            "void hipPlain(int a);")
        text = outputs["proxy/gen/client_launch.cc"]
        self.assertIn('TF_API void hipPlain(int a) __asm__("_ZN3any8hipPlainEi");\nTF_API void hipPlain(int a) try {',
                      text)
        self.assertNotIn('extern "C" TF_API void hipPlain', text)
        self.assertIn("_ZN3any8hipPlainEi;", outputs["proxy/gen/exports_5.map"])

    def test_a_second_symbol(self):
        outputs = generate(raw=True, launch="CUSTOM(launch) ALSO(hipOther) MANGLED(_Z7hipMangv) int hipMang();")
        text = outputs["proxy/gen/client_launch.cc"]
        self.assertIn('extern "C" TF_API int tf_hipOther() __asm__("hipOther");\n'
                      'extern "C" int tf_hipOther() { return ::hipMang(); }', text)
        self.assertNotIn('__asm__("hipOther")', outputs["proxy/gen/unsupported_5.cc"])

    def test_symbols_that_nobody_describes_are_exported(self):
        outputs = generate(error="LOCAL(thread) hipError_t hipPlain();")
        self.assertIn('__asm__("hipOther")', outputs["proxy/gen/unsupported_5.cc"])
        self.assertNotIn('__asm__("hipPlain")', outputs["proxy/gen/unsupported_5.cc"])
        self.assertIn("hip_5.2 {\n  global:\n    hipTarget_spt;\n} hip_4.2;", outputs["proxy/gen/exports_5.map"])


class Majors(unittest.TestCase):
    """Every major that we stand in for has a list, a version script and stubs of its own."""

    def test_lists(self):
        outputs = generate(error="LOCAL(thread) hipError_t hipPlain();\nLOCAL(thread) hipError_t hipSeventh();",
                           majors="5 5.2.0\n6 -\n7 7.1.12\n",
                           lists={"7.txt": "hipPlain hip_4.2\nhipSeventh hip_7.0\nhipNobody hip_7.0\n"
                                           "hipNamed hip_some_ext\n"})
        five, seven = (outputs[f"proxy/gen/exports_{major}.map"] for major in (5, 7))
        self.assertIn("    hipTarget_spt;\n", five)
        self.assertNotIn("hipSeventh", five)
        self.assertIn("hip_7.0 {\n  global:\n    hipNobody;\n    hipSeventh;\n} hip_4.2;", seven)
        self.assertIn("hip_some_ext {\n  global:\n    hipNamed;\n} hip_7.0;", seven)
        self.assertNotIn("hipOther", seven)
        self.assertIn('__asm__("hipNobody")', outputs["proxy/gen/unsupported_7.cc"])
        self.assertNotIn('__asm__("hipNobody")', outputs["proxy/gen/unsupported_5.cc"])
        self.assertNotIn("proxy/gen/exports_6.map", outputs)
        header = outputs["hipcore/wire/gen/majors.h"]
        self.assertIn('{5, "libamdhip64.so.5", "libhiprtc.so.5", 50200000, true},\n    {6, "libamdhip64.so.6", '
                      '"libhiprtc.so.6", 0, false},\n    {7, "libamdhip64.so.7", "libhiprtc.so.7", 70100012, true},',
                      header)

    def test_one_node_hides_the_rest_and_ours_stand_alone(self):
        script = generate()["proxy/gen/exports_5.map"]
        self.assertEqual(script.count("local:\n    *;"), 1)
        self.assertTrue(script.startswith("hip_4.2 {\n"))
        self.assertIn("hip_remote {\n  global:\n    hip_remote_proxy_version;\n", script)
        self.assertTrue(script.rstrip().endswith("    hip_remote_worker_walls;\n};"))

    def test_runtimes(self):
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            for file, text in (("majors.txt", "5 5.2.0\n6 6.4.1\n7 -\n"),
                               ("5.txt", description.SYMBOLS + "hiprtcVersion hip_4.2 rtc\n"),
                               ("6.txt", "hipPlain hip_4.2\nhipSixth hip_6.1\n"),
                               ("implemented.txt", "# what there is\nhipPlain\n"),
                               ("extensions.txt", "hipRemoteMore hip_remote_1.0\nhipLater hip_6.5\n")):
                (folder / file).write_text(text)
            arguments = [sys.executable, description.ROOT / "tools/apigen/runtime_exports.py", folder,
                         folder / "implemented.txt", folder, "--namespace", "tf::some",
                         "--extensions", folder / "extensions.txt"]
            subprocess.run(arguments, check=True)
            stubs, script = (folder / "unsupported_5.cc").read_text(), (folder / "exports_5.map").read_text()
            self.assertNotIn("hipSixth", stubs + script)
            self.assertNotIn("hipOther", (folder / "exports_6.map").read_text())
            for name in ("hipOther", "hipSixth"):
                self.assertIn(f'"{name}"', (folder / "unsupported_all.cc").read_text())
                self.assertIn(f"    {name};\n", (folder / "exports_all.map").read_text())
            self.assertIn('return tf::some::unsupported("hiprtcVersion");', stubs)
            self.assertIn('__asm__("hipOther")', stubs)
            for name in ("hipPlain", "hipRemoteMore", "hipLater"):
                self.assertNotIn(f'"{name}"', stubs)
                self.assertIn(f"    {name};\n", script)
            self.assertIn("hip_6.5 {\n  global:\n    hipLater;\n} hip_5.2;", script)
            subprocess.run([*arguments, "--with-rtc"], check=True)
            self.assertNotIn("hiprtcVersion", (folder / "unsupported_5.cc").read_text())
            (folder / "implemented.txt").write_text("hipStranger\n")
            failed = subprocess.run(arguments, stderr=subprocess.PIPE, text=True)
            self.assertNotEqual(failed.returncode, 0)
            self.assertIn("hipStranger", failed.stderr)


class Alias(unittest.TestCase):
    TARGET = "CUSTOM(books) hipError_t hipTarget(IN(address) void* p, size_t bytes, IN(stream) hipStream_t stream);\n"

    def alias(self, text):
        return stub(generate(memory=self.TARGET + text), "memory", "hipTarget_spt")

    def test_spt_with_a_stream(self):
        text = self.alias("ALIAS(hipTarget) hipError_t hipTarget_spt(IN(address) void* p, size_t bytes, "
                          "IN(stream) hipStream_t stream);")
        self.assertIn("::hipTarget(p, bytes, stream == nullptr ? hipStreamPerThread : stream)", text)

    def test_spt_without_a_stream(self):
        text = self.alias("ALIAS(hipTarget, then_synchronize) hipError_t hipTarget_spt(IN(address) void* p, "
                          "size_t bytes);")
        self.assertIn("::hipTarget(p, bytes, hipStreamPerThread)", text)
        self.assertIn("::hipStreamSynchronize(hipStreamPerThread)", text)

    def test_fixed_value(self):
        text = self.alias("ALIAS(hipTarget, bytes = 64) hipError_t hipTarget_spt(IN(address) void* p, "
                          "IN(stream) hipStream_t stream);")
        self.assertIn("::hipTarget(p, 64, ", text)

    def test_kernel_stub_for_a_function(self):
        text = generate(module="CALL(0x0510) hipError_t hipTarget(IN(function) hipFunction_t f, OUT() int* n);\n"
                               "ALIAS(hipTarget) hipError_t hipPlain(IN(host_function) const void* f, OUT() int* n);")
        text = stub(text, "module", "hipPlain")
        self.assertIn("call.registered(f, resolved)", text)
        self.assertIn("::hipTarget(resolved, n)", text)


class FrontWords(unittest.TestCase):
    def test_asks(self):
        outputs = generate(stream="""
            CUSTOM(books) ASKS(pending) hipError_t hipPlain();
            CALL(0x0310) hipError_t hipOther();
            CUSTOM(copy) hipError_t hipTarget(IN(address) void* p, IN(stream) hipStream_t stream);
            ALIAS(hipTarget) hipError_t hipTarget_spt(IN(address) void* p, IN(stream) hipStream_t stream);
            LOCAL(thread) SINCE(hip_5.3) hipError_t hipNew();""")
        self.assertEqual(json.loads(outputs["tests/gen/round_trips.json"]),
                         {"hipPlain": ["pending", False], "hipOther": ["always", False], "hipTarget": ["copy", True],
                          "hipTarget_spt": ["copy", True], "hipNew": ["", False]})
        self.assertIn("| `hipPlain` | stream | CUSTOM books | pending |", outputs["API.md"])

    def test_outside_captures_comes_first(self):
        text = stub(generate(stream="CUSTOM(books) OUTSIDE_CAPTURES hipError_t hipPlain(int a);"), "stream", "hipPlain")
        self.assertLess(text.index("if (const hipError_t refused = refuse_unsafe()) return refused;"),
                        text.index("custom::hipPlain(call, a)"))

    def test_check_may_be_repeated(self):
        text = stub(generate(stream="POST(0x0310) NO_WORK CHECK(a != 0) CHECK(a <\n 9) hipError_t hipPlain(int a);"),
                    "stream", "hipPlain")
        self.assertIn("if (!(a != 0)) return call.finish(hipErrorInvalidValue);", text)
        self.assertIn("if (!(a < 9)) return call.finish(hipErrorInvalidValue);", text)

    def test_since(self):
        outputs = generate(error="LOCAL(thread) SINCE(hip_5.3) hipError_t hipNew();")
        self.assertIn("hip_5.3 {\n  global:\n    hipNew;\n} hip_5.2;", outputs["proxy/gen/exports_5.map"])

    def test_mangled(self):
        outputs = generate(raw=True, launch="CUSTOM(books) MANGLED(_Z7hipMangv) hipError_t hipMang();\n")
        self.assertIn("TF_API hipError_t hipMang() try {", outputs["proxy/gen/client_launch.cc"])
        self.assertNotIn('extern "C" TF_API hipError_t hipMang()', outputs["proxy/gen/client_launch.cc"])
        self.assertIn("using only_hipMang = decltype(&hipMang);", outputs["proxy/gen/description.cc"])
        self.assertNotIn("(*hipMang)", outputs["hipcore/wire/gen/hip_table.h"])


class Traits(unittest.TestCase):
    """The table that both sides read."""

    MESSAGES = description.MESSAGES

    def row(self, name, messages="", **files):
        table = generate(messages=self.MESSAGES + messages, **files)["hipcore/wire/gen/op_traits.h"]
        return re.search(rf"{{Op::k{name}, (.*)}},\n", table).group(1)

    def test_posts(self):
        work = "WORK(s) {} hipError_t hipPlain(IN(stream) hipStream_t s, IN(event) hipEvent_t e);"
        at_stream = "offsetof(PlainRequest, s)"
        for words, row in (("CAPTURE(asked)", f"trait_bits(Trait::kWork, Trait::kPrompt), {at_stream}, "
                            "kNoField, kNoField"),
                           ("CAPTURE(refused) REACHES_HOST", "trait_bits(Trait::kWork, Trait::kNotCaptured, "
                            f"Trait::kReachesHost, Trait::kPrompt), {at_stream}, kNoField, kNoField"),
                           ("RECORDS(e)", f"trait_bits(Trait::kWork, Trait::kRecords, Trait::kPrompt), {at_stream}, "
                            "offsetof(PlainRequest, e), kNoField"),
                           ("AWAITS(e)", f"trait_bits(Trait::kWork, Trait::kAwaits, Trait::kPrompt), {at_stream}, "
                            "offsetof(PlainRequest, e), kNoField")):
            self.assertEqual(self.row("Plain", event="POST(0x0410) " + work.format(words)), row)

    def test_generated_bodies_are_prompt_unless_they_give_up_a_handle(self):
        call = "CALL(0x0410) hipError_t hipPlain(IN(event) hipEvent_t e);"
        self.assertIn("kPrompt", self.row("Plain", event=call))
        row = self.row("Plain", event="POST(0x0410) NO_WORK hipError_t hipPlain(CONSUMES(event) hipEvent_t e);")
        self.assertEqual(row, "trait_bits(Trait::kEndsEvent), kNoField, offsetof(PlainRequest, e), kNoField")

    def test_new_streams(self):
        create = "CREATE(0x0310) NEW_STREAM(flags) hipError_t hipPlain(OUT(stream) hipStream_t* s, unsigned int flags);"
        self.assertEqual(self.row("Plain", stream=create), "trait_bits(Trait::kNewStream, Trait::kPrompt), "
                         "offsetof(PlainRequest, s), kNoField, offsetof(PlainRequest, flags)")

    def test_messages(self):
        for text, row in (
                ("MESSAGE(0x0301, post, Plain) NO_WORK ENDS(stream) { u64 stream; };",
                 "trait_bits(Trait::kEndsStream), offsetof(PlainRequest, stream), kNoField, kNoField"),
                ("MESSAGE(0x0301, post, Plain) WORK(on) CAPTURE(asked) DIRECT PROMPT { u64 a; u64 on; };",
                 "trait_bits(Trait::kWork, Trait::kPrompt, Trait::kDirect), offsetof(PlainRequest, on), kNoField, "
                 "kNoField"),
                ("MESSAGE(0x0301, call, Plain) { u64 stream; };", "trait_bits(), kNoField, kNoField, kNoField")):
            self.assertEqual(self.row("Plain", messages=text), row)

    def test_worker_reads_the_same_table(self):
        source = generate(stream="CALL(0x0310) hipError_t hipPlain();")["worker/gen/dispatch.cc"]
        self.assertIn("at(table, Op::kPlain) = {handle_plain, traits_of(Op::kPlain)};", source)

    def test_notices(self):
        text = generate(messages=self.MESSAGES + "MESSAGE(0x0008, notice, Told) { u64 a; };\nTAIL(Told)\n"
                        "MESSAGE(0x0009, notice, Said) { u64 a; };")["hipcore/wire/gen/notices.h"]
        self.assertIn("case Op::kTold: {\n      ToldNotice notice;\n      if (payload.size() < sizeof notice)", text)
        self.assertIn("case Op::kSaid: {\n      SaidNotice notice;\n      if (payload.size() != sizeof notice)", text)
        self.assertNotIn("kGoodbye", text)


class ParameterWords(unittest.TestCase):
    def test_device_extent_is_checked_by_the_worker(self):
        outputs = generate(memory="POST(0x0260) NO_WORK hipError_t hipPlain(IN(device, rows(pitch, w, h)) void* p, "
                                  "size_t pitch, size_t w, size_t h);")
        self.assertIn("if (!call.owns(request.p, rows(request.pitch, request.w, request.h))) return;",
                      handler(outputs, "memory", "plain"))

    def test_array_becomes_the_tail(self):
        outputs = generate(stream="POST(0x0310) NO_WORK hipError_t hipPlain(uint32_t n, "
                                  "IN() ARRAY(n) const uint32_t* mask);")
        self.assertIn("call.post(request, std::as_bytes(std::span(mask, n)))", stub(outputs, "stream", "hipPlain"))
        text = handler(outputs, "stream", "plain")
        self.assertIn("call.tail().size() != std::size_t{request.n} * sizeof(uint32_t)", text)
        self.assertIn("kHasTail = true", outputs["hipcore/wire/gen/messages.h"])

    def test_optional(self):
        text = stub(generate(stream="CALL(0x0310) hipError_t hipPlain(OUT() OPTIONAL int* a, OUT() int* b);"),
                    "stream", "hipPlain")
        self.assertIn("if (a != nullptr) *a = ", text)
        self.assertIn("if (b == nullptr) return", text)

    def test_consumes_comes_after_what_may_fail(self):
        text = stub(generate(stream="POST(0x0310) WORK(s) CAPTURE(asked) hipError_t hipPlain("
                                    "CONSUMES(event) hipEvent_t e, IN(stream) hipStream_t s);"), "stream", "hipPlain")
        self.assertLess(text.index("call.translate("), text.index("call.consume("))

    def test_word_and_struct(self):
        outputs = generate(pool="CALL(0x0285) hipError_t hipPlain(IN() const hipMemLocation* where, "
                                "OUT(word(width(kind))) void* value, int kind);")
        text = stub(outputs, "pool", "hipPlain")
        self.assertIn("std::memcpy(value, &reply.value, width(kind));", text)
        self.assertIn("request.where_type = ", text)
        self.assertIn("where.id = ", handler(outputs, "memory", "plain"))

    def test_fields_are_aligned_and_padded(self):
        outputs = generate(stream="POST(0x0310) NO_WORK hipError_t hipPlain(int a, size_t b);")
        text = outputs["hipcore/wire/gen/messages.h"]
        for line in ("offsetof(PlainRequest, b) == 0", "offsetof(PlainRequest, a) == 8",
                     "offsetof(PlainRequest, reserved) == 12", "sizeof(PlainRequest) == 16",
                     "validate(const PlainRequest& request) { return request.reserved == 0; }"):
            self.assertIn(line, text)

    def test_capital_type_names_are_no_words(self):
        outputs = generate(memory="CUSTOM(books) hipError_t hipPlain(IN() HIP_ARRAY_DESCRIPTOR* d, "
                                  "OUT() HIP_MEMCPY3D* m);")
        self.assertIn("HIP_ARRAY_DESCRIPTOR* d", outputs["proxy/gen/custom.h"])


class Whole(unittest.TestCase):
    def test_outputs_are_the_same_every_time(self):
        api = description.ROOT / "proxy/api"
        first, second = description.apigen.generate(api), description.apigen.generate(api)
        self.assertEqual(first, second)
        self.assertGreater(len(first), 20)

    def test_schema_hash_sees_every_change_of_the_wire_and_nothing_else(self):
        def schema(text):
            return generate(stream=text)["hipcore/wire/gen/schema.h"]
        base = schema("POST(0x0310) NO_WORK hipError_t hipPlain(int a);")
        self.assertEqual(base, schema("// a comment\nPOST(0x0310) NO_WORK CHECK(a != 0) hipError_t hipPlain(int a);"))
        for other in ("POST(0x0311) NO_WORK hipError_t hipPlain(int a);", "CALL(0x0310) hipError_t hipPlain(int a);",
                      "POST(0x0310) NO_WORK hipError_t hipPlain(unsigned a);",
                      "POST(0x0310) NO_WORK hipError_t hipPlain(int b);",
                      "POST(0x0310) NO_WORK hipError_t hipPlain(int a, int b);",
                      "POST(0x0310) NO_WORK hipError_t hipOther(int a);"):
            self.assertNotEqual(base, schema(other), other)


if __name__ == "__main__":
    unittest.main()
