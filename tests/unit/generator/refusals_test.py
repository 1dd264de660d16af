#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Every description that cannot be carried is refused with file:line and the reason; none is ignored."""
import unittest

from description import MESSAGES, SYMBOLS, refusal

ADDRESSED = "IN(device, bytes) void* p, size_t bytes"


class Refusals(unittest.TestCase):
    def refused(self, reason, where=None, **files):
        """One description, refused at `where` ("stream.h:2" when not given) for `reason`."""
        where = where or next(f"{name}.h:2" for name in files if name not in ("messages", "symbols", "majors", "raw"))
        text = refusal(**files)
        self.assertIsNotNone(text, f"taken, though: {reason}")
        folder = "hipcore/exports" if ".txt" in where else "proxy/api"
        self.assertTrue(text.startswith(f"{folder}/{where}:"), f"'{text}' does not start with {where}")
        self.assertIn(reason, text)

    def stream(self, text, reason, where=None):
        self.refused(reason, where, stream=text)


class Words(Refusals):
    def test_pointer_without_direction(self):
        self.stream("CALL(0x0310) hipError_t hipPlain(int* value);", "pointer 'value' needs a direction")
        self.stream("CUSTOM(books) hipError_t hipPlain(const void* p);", "pointer 'p' needs a direction")
        self.stream("CUSTOM(books) hipError_t hipPlain(hipDeviceptr_t p);", "pointer 'p' needs a direction")

    def test_handle_without_direction(self):
        self.stream("CUSTOM(books) hipError_t hipPlain(hipStream_t s);", "handle 's' needs a direction: IN(stream)")

    def test_unknown_words(self):
        self.stream("CAL(0x0310) hipError_t hipPlain();", "unknown word 'CAL'")
        self.stream("CALL(0x0310) CHEK(a) hipError_t hipPlain(int a);", "unknown word 'CHEK'")
        self.stream("CALL(0x0310) hipError_t hipPlain(INN() int* a);", "unknown word 'INN'")
        self.stream("CALL(0x0310) hipError_t hipPlain(IN() OPTIONL int* a);", "unknown word 'OPTIONL'")

    def test_no_word_or_two(self):
        self.stream("hipError_t hipPlain();", "no word says how the call travels")
        self.stream("POST(0x0310) LOCAL(thread) hipError_t hipPlain();", "cannot travel in two ways: POST and LOCAL")
        self.stream("CALL(0x0310) CACHED() hipError_t hipPlain(OUT() int* a);", "cannot travel in two ways")
        self.stream("CUSTOM(books) CUSTOM(books) hipError_t hipPlain();", "CUSTOM is said twice")

    def test_brackets(self):
        self.stream("CALL hipError_t hipPlain();", "CALL needs brackets")
        self.stream("UNSUPPORTED(0x0310) hipError_t hipPlain();", "UNSUPPORTED takes no brackets")
        self.stream("REFUSED hipError_t hipPlain();", "REFUSED needs brackets")
        self.stream("CUSTOM(books) ALSO(hipNobody) hipError_t hipPlain();", "ALSO(hipNobody) is in no symbol list")
        self.stream("REFUSED() hipError_t hipPlain();", "REFUSED needs the reason, without quotes")
        self.stream('REFUSED(a "quote") hipError_t hipPlain();', "REFUSED needs the reason, without quotes")
        self.stream("CALL(0x0310) hipError_t hipPlain(OUT int* a);", "OUT needs brackets")
        self.stream("CALL(0x0310) hipError_t hipPlain(OUT() OPTIONAL() int* a);", "OPTIONAL takes no brackets")
        self.stream("CALL(0x0310 hipError_t hipPlain(int a);", "unbalanced brackets")

    def test_opcodes(self):
        for opcode in ("", "310", "0x310", "0x00310", "zebra"):
            self.stream(f"CALL({opcode}) hipError_t hipPlain();", "is no opcode")

    def test_directions(self):
        self.stream("CUSTOM(books) hipError_t hipPlain(IN() OUT() int* a);", "two directions: IN and OUT")
        self.stream("CUSTOM(books) hipError_t hipPlain(IN(stream) CONSUMES(stream) hipStream_t s);", "two directions")
        self.stream("CUSTOM(books) hipError_t hipPlain(CONSUMES() void* p);", "only a handle can be consumed")

    def test_kinds(self):
        self.stream("CUSTOM(books) hipError_t hipPlain(IN(strem) hipStream_t s);", "unknown kind 'strem'")
        self.stream("CUSTOM(books) hipError_t hipPlain(IN(event) hipStream_t s);", "'hipStream_t s' cannot be 'event'")
        self.stream("CUSTOM(books) hipError_t hipPlain(IN(stream) void* s);", "'void* s' cannot be 'stream'")
        self.stream("CUSTOM(books) hipError_t hipPlain(OUT() hipEvent_t* e);", "'hipEvent_t* e' cannot be ''")
        self.stream("CUSTOM(books) hipError_t hipPlain(IN(device + 1) void* p);", "not a kind: 'device + 1'")
        self.stream("CUSTOM(books) hipError_t hipPlain(IN(host, 4) void* p);", "too much in the brackets of IN")
        self.stream("CUSTOM(books) hipError_t hipPlain(IN(word) void* p);", "word needs the number of bytes")

    def test_array_string_ordinal(self):
        self.stream("CUSTOM(books) hipError_t hipPlain(IN() ARRAY() int* a);", "ARRAY needs one argument")
        self.stream("CUSTOM(books) hipError_t hipPlain(ARRAY(4) int a);", "ARRAY needs one argument, and a pointer")
        self.stream("CUSTOM(books) hipError_t hipPlain(IN() STRING(long) const char* s);", "STRING needs a number")
        self.stream("POST(0x0310) hipError_t hipPlain(ORDINAL size_t d);", "ORDINAL is for an int")

    def test_what_is_no_prototype(self):
        self.stream("CALL(0x0310) hipError_t hipPlain;", "not a prototype")
        self.stream("CALL(0x0310) hipError_t hipPlain() noexcept;", "'noexcept' after the prototype")
        self.stream("CALL(0x0310) hipError_t hipPlain(int);", "not a parameter: 'int'")
        self.stream("CALL(0x0310) hipError_t hipPlain(int values[4]);", "not a parameter")

    def test_nothing_is_lost_for_want_of_a_semicolon(self):
        self.stream("LOCAL(thread) hipError_t hipPlain()", "no ';' after")
        self.stream("LOCAL(thread) hipError_t hipOther();\nLOCAL hipError_t hipPlain()", "no ';'", "stream.h:3")
        self.refused("no ';'", "stream.h:1", raw=True, stream="LOCAL(thread) hipError_t hipPlain()")

    def test_line_is_that_of_the_prototype(self):
        self.stream("// two\n/* three\n four */\n\n  CALL(0x0310) hipError_t\n hipPlain(int* a);", "pointer",
                    "stream.h:6")


class Carrying(Refusals):
    def test_opcode_out_of_the_domains_range(self):
        self.stream("CALL(0x0410) hipError_t hipPlain();", "opcode 0x0410 is out of the range of stream.h: 0x03xx")
        self.refused("out of the range of error.h: none", error="CALL(0x0110) hipError_t hipPlain();")
        self.refused("no handlers are generated for its range", graph="CALL(0x0710) hipError_t hipPlain();")

    def test_duplicates(self):
        self.stream("POST(0x0310) hipError_t hipPlain();\nPOST(0x0310) hipError_t hipOther();",
                    "opcode 0x0310 is taken by proxy/api/stream.h:2", "stream.h:3")
        self.stream("LOCAL(thread) hipError_t hipPlain();\nLOCAL(thread) hipError_t hipPlain();",
                    "name hipPlain is taken by proxy/api/stream.h:2", "stream.h:3")
        self.refused("name Plain is taken by", "stream.h:2", stream="POST(0x0310) hipError_t hipPlain();",
                     messages="MESSAGE(0x0301, post, Plain) { u64 reserved; };")
        self.refused("opcode 0x0301 is taken by", "stream.h:2", stream="POST(0x0301) hipError_t hipPlain();",
                     messages="MESSAGE(0x0301, post, Other) { u64 reserved; };")

    def test_create(self):
        self.stream("CREATE(0x0310) hipError_t hipPlain();", "CREATE needs exactly one OUT(handle), not 0")
        self.stream("CREATE(0x0310) hipError_t hipPlain(OUT(stream) hipStream_t* a, OUT(event) hipEvent_t* b);",
                    "CREATE needs exactly one OUT(handle), not 2")
        self.stream("CREATE(0x0310) hipError_t hipPlain(OUT(stream) hipStream_t* a, OUT() int* b);", "use CALL")
        self.stream("CALL(0x0310) hipError_t hipPlain(OUT(stream) hipStream_t* a);", "only CREATE gives one")

    def test_posts_return_nothing(self):
        self.stream("POST(0x0310) hipError_t hipPlain(OUT() int* a);", "'a' is OUT, but a POST is not answered")

    def test_cached(self):
        self.stream("CACHED(0x0310) hipError_t hipPlain(int a);", "CACHED without anything to keep")
        self.stream("CACHED(0x0310) hipError_t hipPlain(OUT() int* a, unsigned n, IN() ARRAY(n) const int* b);",
                    "a tail is no part of the key")

    def test_parameters_that_no_message_carries(self):
        for parameter, reason in (
                ("unsigned n, OUT() ARRAY(n) int* a", "OUT ARRAY is not carried"),
                ("IN() ARRAY(n) const int* a", "ARRAY(n) names no parameter"),
                ("int n, IN() ARRAY(n) const int* a", "'int n' could be negative"),
                ("unsigned n, IN() ARRAY(n) const int* a, IN() ARRAY(n) const int* b", "one tail: one ARRAY"),
                ("unsigned n, IN(event) ARRAY(n) hipEvent_t* a", "cannot be 'event'"),
                ("INOUT() int* a", "INOUT and STRING are not carried"),
                ("IN() STRING(9) const char* a", "INOUT and STRING are not carried"),
                ("IN(host) void* p", "kind 'host' is not carried"),
                ("IN(ctx) hipCtx_t c", "handles of kind 'ctx' are not carried"),
                ("OUT(device) void** p", "a returned address is not carried"),
                ("IN() const hipDeviceProp_t* p", "cannot send"),
                ("OUT() hipDeviceProp_t* p", "cannot return"),
                ("hipChannelFormatDesc d", "cannot send")):
            self.stream(f"CALL(0x0310) hipError_t hipPlain({parameter});", reason)

    def test_device_addresses_need_their_extent(self):
        self.stream("POST(0x0310) hipError_t hipPlain(IN(device) void* p);", "a device address needs its extent")
        self.stream("POST(0x0310) hipError_t hipPlain(IN(device, bites) void* p, size_t bytes);",
                    "the extent speaks of 'bites', which is no parameter")
        self.assertIsNone(refusal(stream=f"POST(0x0310) NO_WORK hipError_t hipPlain({ADDRESSED});"))

    def test_results(self):
        self.stream("CALL(0x0310) hiprtcResult hipPlain();", "only hipError_t is carried")

    def test_words_that_would_be_ignored(self):
        self.stream("LOCAL(thread) CHECK(a) hipError_t hipPlain(int a);", "CHECK is not looked at in a LOCAL")
        self.stream("CUSTOM(books) hipError_t hipPlain(ORDINAL int a);", "ORDINAL is not looked at in a CUSTOM")


class Sends(Refusals):
    MESSAGES = MESSAGES + "MESSAGE(0x0304, post, Sent) WORK(s) CAPTURE(asked) { u64 s; u64 n = 1; u32 v; " \
                          "u32 reserved; };\nMESSAGE(0x0305, notice, Told) { u64 v; };\n"
    STREAM = "IN(stream) hipStream_t s"

    def sends(self, text, reason):
        self.refused(reason, stream=text, messages=self.MESSAGES)

    def test_message(self):
        self.sends(f"SENDS(Gone) hipError_t hipPlain({self.STREAM}, int v);",
                   "SENDS of 'Gone', which is no post or call")
        self.sends("SENDS(Told) hipError_t hipPlain(int v);", "SENDS of 'Told'")
        self.sends(f"SENDS() hipError_t hipPlain({self.STREAM}, int v);", "SENDS of ''")

    def test_every_field_has_its_value(self):
        self.sends(f"SENDS(Sent) hipError_t hipPlain({self.STREAM});", "nothing for 'v' of Sent")
        self.sends(f"SENDS(Sent, w = v) hipError_t hipPlain({self.STREAM}, int v);", "Sent has no such field")
        self.sends(f"SENDS(Sent, v) hipError_t hipPlain({self.STREAM}, int v);", "not `field = expression`")
        self.sends(f"SENDS(Sent, v = 1, v = 2) hipError_t hipPlain({self.STREAM});", "there twice")

    def test_every_parameter_has_its_use(self):
        self.sends(f"SENDS(Sent) hipError_t hipPlain({self.STREAM}, int v, int w);", "'w' would get lost")
        for text in (f"SENDS(Sent, n = w) hipError_t hipPlain({self.STREAM}, int v, int w);",
                     f"SENDS(Sent) CHECK(w == 0) hipError_t hipPlain({self.STREAM}, int v, int w);"):
            self.assertIsNone(refusal(stream=text, messages=self.MESSAGES))

    def test_what_is_not_carried(self):
        self.sends(f"SENDS(Sent, v = 0) hipError_t hipPlain({self.STREAM}, OUT() int* v);",
                   "SENDS carries plain values")
        self.sends(f"SENDS(Sent) hipError_t hipPlain({self.STREAM}, ORDINAL int v);", "SENDS carries plain values")
        self.sends(f"SENDS(Sent) int hipPlain({self.STREAM}, int v);", "that return hipError_t")
        self.sends("SENDS(Sent, v = 0) hipError_t hipPlain(IN(device) void* s);", "a device address needs its extent")


class ByHand(Refusals):
    def test_reasons(self):
        self.stream("LOCAL hipError_t hipPlain();", "LOCAL needs brackets")
        self.stream("LOCAL(habit) hipError_t hipPlain();", "LOCAL(habit): no reason; known: books")
        self.stream("CUSTOM() hipError_t hipPlain();", "CUSTOM(): no reason")

    def test_answers(self):
        self.stream("ANSWERS() hipError_t hipPlain();", "ANSWERS() of nothing")
        self.stream("ANSWERS(a = 1, b) hipError_t hipPlain(OUT() int* a);", "not `parameter = expression`")
        self.stream("ANSWERS(b = 1) hipError_t hipPlain(OUT() int* a);", "ANSWERS(b = ...): that is no OUT parameter")
        self.stream("ANSWERS(a = 1) hipError_t hipPlain(int a);", "ANSWERS(a = ...): that is no OUT parameter")
        self.stream("ANSWERS(a = 1) hipError_t hipPlain(OUT() int* a, OUT() int* b);", "nothing for 'b'")
        self.stream("ANSWERS(hipSuccess) hipError_t hipPlain(OUT() int* a);", "'a' would get lost: the answer does not")
        self.stream("ANSWERS(ask(b)) hipError_t hipPlain(INOUT() int* a, int b);", "'a' would get lost")
        self.stream("ANSWERS(b = 1) hipError_t hipPlain(INOUT() int* a, OUT() int* b);", "'a' would get lost")
        self.stream("ANSWERS(hipSuccess) int hipPlain();", "that return hipError_t")
        self.stream("ANSWERS(ask(a_handle)) hipError_t hipPlain(int a);", "'a' is no parameter IN(handle kind)")
        self.stream("ANSWERS(ask(e)) hipError_t hipPlain(CONSUMES(event) hipEvent_t e);", "use SENDS")

    def test_asks(self):
        self.stream("CUSTOM(books) ASKS(sometimes) hipError_t hipPlain();", "ASKS(sometimes); possible: always, first,")
        self.stream("CALL(0x0310) ASKS(always) hipError_t hipPlain();", "ASKS(always) says nothing in a CALL")
        self.stream("POST(0x0310) NO_WORK ASKS(always) hipError_t hipPlain();", "ASKS is not looked at in a POST")

    def test_outside_captures(self):
        self.stream("UNSUPPORTED OUTSIDE_CAPTURES hipError_t hipPlain();", "OUTSIDE_CAPTURES is not looked at in")


class SymbolsAndAliases(Refusals):
    TARGET = "CUSTOM(books) hipError_t hipTarget(IN(address) void* p, size_t bytes, IN(stream) hipStream_t stream);\n"
    ADDRESS = "IN(address) void* p"

    def alias(self, text, reason):
        self.stream(self.TARGET + text, reason, "stream.h:3")

    def test_symbol_in_no_list(self):
        self.stream("LOCAL(thread) hipError_t hipNew();", "hipNew is in no symbol list; give its node with SINCE")
        self.stream("LOCAL(thread) SINCE(5.3) hipError_t hipNew();", "SINCE(5.3) is no version node")
        self.stream("LOCAL(thread) SINCE(hip_4.2) hipError_t hipPlain();", "take SINCE away")
        self.refused("not a symbol and its node", "5.txt:5", stream="", symbols=SYMBOLS.replace(
            "hipTarget_spt hip_5.2", "hipTarget_spt\thip_5.2"))
        for node in ("hip_", "hip_5", "hip_5.2.1", "hip_5x2", "hip_remote", "hip_remote_x.1", "amd_5.2"):
            self.refused("not a symbol and its node", "5.txt:2", stream="", symbols=SYMBOLS.replace("hip_4.2", node, 1))
        self.refused("there twice", "5.txt:7", stream="", symbols=SYMBOLS + "hipPlain hip_4.2\n")

    def test_majors(self):
        self.refused("not a major", "majors.txt:1", stream="", majors="5 5.2\n")
        self.refused("there twice", "majors.txt:2", stream="", majors="5 5.2.0\n5 -\n")
        self.refused("the first line is of a major with symbols", "majors.txt", stream="", majors="6 -\n5 5.2.0\n")

    def test_linkage(self):
        self.stream("CUSTOM(books) MANGLED(_Z7hipMangv) hipError_t hipMang();", "goes with C++ linkage")
        self.refused("goes with C++ linkage", "launch.h:1", raw=True, launch="CUSTOM(books) hipError_t hipPlain();")
        self.refused("C++ linkage is for CUSTOM", "launch.h:1", raw=True,
                     launch="CALL(0x0510) MANGLED(_Z7hipMangv) hipError_t hipMang();")

    def test_alias_of_nothing(self):
        self.stream("ALIAS(hipGone) hipError_t hipPlain();", "ALIAS of unknown function 'hipGone'")
        self.stream("ALIAS() hipError_t hipPlain();", "ALIAS of unknown function ''")

    def test_alias_parameters(self):
        self.alias(f"ALIAS(hipTarget) hipError_t hipPlain({self.ADDRESS}, size_t bytes);", "nothing for 'stream'")
        self.alias(f"ALIAS(hipTarget) hipError_t hipTarget_spt({self.ADDRESS});", "nothing for 'bytes'")
        self.alias(f"ALIAS(hipTarget) hipError_t hipTarget_spt({self.ADDRESS}, size_t bytes, int more);",
                   "'more' would get lost")
        self.alias("ALIAS(hipTarget) int hipPlain();", "returns 'int', hipTarget returns 'hipError_t'")

    def test_alias_options(self):
        spt = f"hipError_t hipTarget_spt({self.ADDRESS}, size_t bytes);"
        self.alias(f"ALIAS(hipTarget, then_synchronise) {spt}", "neither `name = value` nor then_synchronize")
        self.alias(f"ALIAS(hipTarget, flags = 0) {spt}", "a parameter that only hipTarget has")
        self.alias(f"ALIAS(hipTarget, bytes = 0) {spt}", "a parameter that only hipTarget has")

    def test_alias_of_an_alias(self):
        self.stream(self.TARGET + f"ALIAS(hipTarget) hipError_t hipTarget_spt({self.ADDRESS}, size_t bytes);\n"
                    f"ALIAS(hipTarget_spt) hipError_t hipOther({self.ADDRESS}, size_t bytes);",
                    "hipTarget_spt is an ALIAS itself; name hipTarget", "stream.h:4")


class Traits(Refusals):
    """What a description says of its meaning fits how it travels, and nothing that somebody needs is left unsaid."""
    STREAM = "IN(stream) hipStream_t s"

    def plain(self, words, parameters, reason):
        self.refused(reason, "event.h:2", event=f"{words} hipError_t hipPlain({parameters});")

    def message(self, text, reason):
        self.refused(reason, "messages.h:4", messages=MESSAGES + text)

    def test_a_post_says_what_it_leaves(self):
        self.plain("POST(0x0410)", "int a", "a post says what it leaves")
        self.plain("POST(0x0410) NO_WORK WORK(s)", "int a", "a post says what it leaves")
        self.message("MESSAGE(0x0301, post, Plain) { u64 a; };", "a post says what it leaves")

    def test_who_is_answered_leaves_nothing_unknown(self):
        for word in ("WORK(s)", "NO_WORK", "RECORDS(e)", "REACHES_HOST", "CAPTURE(asked)"):
            self.plain(f"CALL(0x0410) {word}", self.STREAM, f"{word.partition('(')[0]} contradicts CALL")
            self.message(f"MESSAGE(0x0301, call, Plain) {word} {{ u64 s; }};", "contradicts call, which is answered")
        self.plain("CACHED(0x0410) NO_WORK", "OUT() int* a", "NO_WORK contradicts CACHED")
        self.message("MESSAGE(0x0301, notice, Plain) NO_WORK { u64 s; };", "NO_WORK contradicts notice")
        self.message("MESSAGE(0x0301, notice, Plain) PROMPT { u64 s; };", "PROMPT contradicts notice")

    def test_a_create_leaves_no_work(self):
        self.plain("CREATE(0x0410) NO_WORK", "OUT(event) hipEvent_t* e", "NO_WORK contradicts CREATE")
        self.plain("CREATE(0x0410) WORK(s) CAPTURE(asked)", f"OUT(event) hipEvent_t* e, {self.STREAM}",
                   "WORK contradicts CREATE, which leaves no work")

    def test_what_does_not_travel_means_nothing(self):
        for mode in ("LOCAL(thread)", "CUSTOM(books)", "ANSWERS(hipSuccess)", "UNSUPPORTED"):
            self.plain(f"{mode} PROMPT", "int a", f"PROMPT is not looked at in a {mode.partition('(')[0]}")
        self.refused("WORK is not looked at in a SENDS; say it of the message", "event.h:2",
                     event="SENDS(Goodbye) WORK(s) hipError_t hipPlain();")

    def test_work_says_how_it_is_captured(self):
        self.plain("POST(0x0410) WORK(s)", self.STREAM, "WORK says how a capture takes it")
        self.plain("POST(0x0410) WORK(s) CAPTURE(asked) RECORDS(e)", f"{self.STREAM}, IN(event) hipEvent_t e",
                   "WORK says how a capture takes it")
        self.plain("POST(0x0410) NO_WORK CAPTURE(asked)", "int a", "CAPTURE is said of WORK only")
        self.plain("POST(0x0410) NO_WORK FILLS", "int a", "FILLS is said of WORK only")
        self.plain("POST(0x0410) WORK(s) CAPTURE(perhaps)", self.STREAM, "neither asked nor refused")
        self.plain("POST(0x0410) WORK(s) FILLS", self.STREAM, "FILLS is said of Fill only")

    def test_a_stream_is_not_passed_over(self):
        self.refused("it has a stream, but no WORK(stream)", "event.h:2",
                     event="POST(0x0410) NO_WORK hipError_t hipPlain(IN(stream) hipStream_t stream);")
        self.message("MESSAGE(0x0301, post, Plain) NO_WORK { u64 stream; };", "it has a stream, but no WORK(stream)")

    def test_words_name_handles(self):
        self.plain("POST(0x0410) WORK(t) CAPTURE(asked)", self.STREAM, "WORK(t): there is no such handle")
        self.plain("POST(0x0410) WORK(a) CAPTURE(asked)", "size_t a", "WORK(a) names no parameter IN(stream)")
        self.plain("POST(0x0410) WORK(s) RECORDS(s)", self.STREAM, "RECORDS(s) names no parameter IN(event)")
        self.message("MESSAGE(0x0301, post, Plain) WORK(a) CAPTURE(asked) { u32 a; u32 b; };",
                     "there is no such handle")
        self.message("MESSAGE(0x0301, post, Plain) NO_WORK ENDS(module) { u64 module; };", "a stream or an event")
        self.plain("POST(0x0410) NO_WORK ENDS(e)", "CONSUMES(event) hipEvent_t e", "what ends is a stream or an event")

    def test_new_streams_say_their_flags(self):
        def stream(words, parameters, reason):
            self.stream_of(words, f"OUT(stream) hipStream_t* s{parameters}", reason)
        stream("CREATE(0x0310)", ", unsigned int flags", "a new stream with flags: NEW_STREAM(flags) says so")
        stream("CREATE(0x0310) NEW_STREAM(flags)", "", "names no parameter `unsigned int flags`")
        self.stream_of("CALL(0x0310) NEW_STREAM(flags)", "unsigned int flags", "NEW_STREAM is for a CREATE of a stream")

    def stream_of(self, words, parameters, reason):
        self.refused(reason, "stream.h:2", stream=f"{words} hipError_t hipPlain({parameters});")

    def test_what_is_generated_needs_no_word_for_bodies(self):
        for word in ("PROMPT", "DIRECT"):
            self.plain(f"POST(0x0410) NO_WORK {word}", "CONSUMES(event) hipEvent_t e",
                       f"{word} is said of a body by hand")
        self.message("MESSAGE(0x0301, call, Plain) DIRECT { u64 a; };", "DIRECT contradicts call")

    def test_what_is_left_out_has_a_default_and_is_not_read_by_offset(self):
        def brief(text, reason):
            self.message(f"MESSAGE(0x0301, {text}", reason)
        brief("post, Plain) NO_WORK BRIEF(b) { u64 a; u64 b; };", "BRIEF(b): 'b' has no default")
        brief("post, Plain) NO_WORK BRIEF(b) { u64 a; u64 b = 0; u64 c; };", "BRIEF(b): 'c' has no default")
        brief("post, Plain) NO_WORK BRIEF(a) { u64 a = 0; u64 b = 0; };", "BRIEF(a): the fields from there on")
        brief("post, Plain) NO_WORK BRIEF(z) { u64 a; u64 b = 0; };", "BRIEF(z): the fields from there on")
        brief("post, Plain) WORK(s) CAPTURE(asked) BRIEF(s) { u64 a; u64 s = 0; };",
              "BRIEF(s): 's' is read by its offset")
        brief("call, Plain) BRIEF(b) { u64 a; u64 b = 0; };", "BRIEF is for a post in messages.h")
        brief("post, Plain) NO_WORK BRIEF(b) { u64 a; u64 b = 0; };\nTAIL(Plain)", "BRIEF is for a post")
        self.plain("POST(0x0410) NO_WORK BRIEF(a)", "int a", "BRIEF is for a post in messages.h")

    def test_messages_take_no_other_words(self):
        self.message("MESSAGE(0x0301, post, Plain) OPTIONAL { u64 a; };", "unknown word 'OPTIONAL'")
        self.message("MESSAGE(0x0301, post, Plain) NO_WORK 7 { u64 a; };", "'7' before the fields of Plain")


class Messages(Refusals):
    def message(self, text, reason, line=4):
        self.refused(reason, f"messages.h:{line}", messages=MESSAGES + text)

    def test_fields(self):
        self.message("MESSAGE(0x0301, post, Plain) { u32 a; u64 b; u32 c; };", "field 'b' at offset 4 is not naturally")
        self.message("MESSAGE(0x0301, post, Plain) { u64 a; u32 b; };", "spell the padding as `u32 reserved`")
        self.message("MESSAGE(0x0301, post, Plain) { u16 a; };", "not a field: 'u16 a'")
        self.message("MESSAGE(0x0301, post, Plain) { u32 a[0]; };", "not a field: 'u32 a[0]'")
        self.message("MESSAGE(0x0301, post, Plain) { u32 a; u32 a; };", "field 'a' is there twice")
        self.message("MESSAGE(0x0301, post, Plain) { };", "no fields")
        self.message("MESSAGE(0x0301, post, Plain) { u32 a = b; };", "not a field: 'u32 a = b'")

    def test_heads(self):
        self.message("MESSAGE(0x0301, cast, Plain) { u64 a; };", "not a message")
        self.message("MESAGE(0x0301, call, Plain) { u64 a; };", "not a message: 'MESAGE")
        self.message("MESSAGE(301, call, Plain) { u64 a; };", "'301' is no opcode")
        self.message("MESSAGE(0x0301, call, Plain) { u64 a; }", "not a message")
        self.message("\nMESSAGE(0x0301, call, Goodbye) { u64 a; };", "name Goodbye is taken by", line=5)
        self.message("MESSAGE(0x7001, call, Plain) { u64 a; };", "no handlers are generated for its range")

    def test_replies_and_tails(self):
        self.message("REPLY(Plain) { u64 a; };", "no message 'Plain' above")
        self.message("TAIL(Plain)", "no message 'Plain' above")
        self.message("REPLY(Goodbye) { u64 a; };", "Goodbye is a post: only a call is answered")
        self.message("MESSAGE(0x0301, call, Plain) { u64 a; };\nREPLY(Plain) { u64 a; };\nREPLY(Plain) { u64 a; };",
                     "Plain has a reply already", line=6)


if __name__ == "__main__":
    unittest.main()
