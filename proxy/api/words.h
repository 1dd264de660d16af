// SPDX-License-Identifier: Apache-2.0
// The words of the API description. The compiler does not see them, so a signature that differs from the vendor's
// header is a compile error. tools/apigen reads them, and refuses descriptions that lack one.
//
// How the call travels, in front of the prototype:
//   CALL(op)          request and reply; the caller waits
//   POST(op)          queued; a failure comes back as a Fault and is sticky
//   CREATE(op)        a POST whose new handle the client chooses (the OUT(kind) parameter)
//   CACHED(op)        a CALL whose successful answer is kept per device and arguments. CREATE(op) CACHED(): one
//                     object for the same arguments, for the life of the session; destroying it is refused
//   CUSTOM(reason)    the body is hand-written in proxy/exported and sends messages of proxy/api/messages.h. Reasons:
//                     REASONS in tools/apigen/model.py, and API.md
//   SENDS(Message, field = expression, ...)  sends this message of proxy/api/messages.h. Its fields come from
//                     the parameters of the same names, the expressions here, or the message's own defaults
//   ANSWERS(...)      answered without the worker: a hipError_t, or `parameter = value, ...` for OUT parameters.
//                     Expressions may use client, snapshot, properties (of the parameter `device`), current (the
//                     thread's device), captures, graphs (the graph library), on (the parameter `stream`, as captures
//                     name it) and, for a parameter IN(handle kind), <name>_handle. A stream is always looked up
//   FORWARDS          passed on to the function of the same name of libhiprtc
//   LOCAL(reason)     the body is hand-written in proxy/exported; answered without the worker
//   COMPOSED          made of other functions of HIP: the body is in hipcore/composed, for client and runtimes alike
//   ALIAS(target)     the same call under another name; see tools/apigen/README.md for ALIAS(target, ...)
//   REFUSED(why)      cannot be done remotely: fails with hipErrorNotSupported and says once why (no quotes in it)
//   UNSUPPORTED       exported, fails with hipErrorNotSupported and says so once
// More in front:
//   CHECK(condition)  false: hipErrorInvalidValue at the call, before anything is sent
//   SINCE(node)       version node of a symbol that the symbol lists do not name
//   ASKS(when)        a call may wait for an answer of the worker: one of CONDITIONS in tools/apigen/asks.py. Where how
//                     it travels does not say so; without it a call never waits. API.md shows it, and a test counts
//                     (tests/differential/round_trips.py)
//   OUTSIDE_CAPTURES  HIP calls it unsafe during a capture: hipErrorStreamCaptureUnsupported, and captures that the
//                     thread's mode covers are invalid (hipcore/graph/capture.h); unsafe_api() in the runtimes
//   MANGLED(symbol)   C++ linkage under exactly this symbol, be it the name's own or another
//   ALSO(symbol)      also under this C symbol, in the majors that have it
// What it means: also in front, and in proxy/api/messages.h after the head of a MESSAGE. apigen makes the table
// hipcore/wire/gen/op_traits.h from it. A post says what it leaves behind:
//   WORK(stream)      work on the stream of that parameter or field
//   NO_WORK           nothing to wait for, but it may fail later (implied by CREATE)
// With WORK, how a capture of the stream takes it:
//   RECORDS(event)    as the recording of an event    AWAITS(event)  as waiting for one    FILLS  as a fill
//   CAPTURE(asked)    the sender has already asked the capture    CAPTURE(refused)  never
// More:
//   REACHES_HOST      names host memory that devices reach. With WORK it reads or writes it: the worker gets first what
//                     the program has changed in mirrored memory
//   NEW_STREAM(flags) (CREATE) creates a stream; the flags decide whether it is ordered with the null stream
//   ENDS(stream)      (messages.h) destroys the handle in that field, a stream or an event; elsewhere CONSUMES says so
//   PROMPT            (messages.h) the worker's body never waits through the session and reads its payload once, so
//                     it may run inside poll(). Generated bodies are prompt, except those that consume a handle
//   DIRECT            (messages.h) the worker's body itself settles copies that bypass staging
//   BRIEF(field)      (messages.h) the fields from that one on are left out while each has its default
// At a parameter; every pointer and handle needs one:
//   IN(...) OUT(...) INOUT(...)   direction. In the brackets: nothing (a plain value behind the pointer), a
//                     handle kind (stream event module function pool graph ctx ...), device (a device address;
//                     `device, bytes` also checks the range), host, address (either), host_function (a kernel's
//                     stub), symbol, callback, opaque, word(bytes) (up to 8 bytes behind a void*)
//   ARRAY(count)      elements behind the pointer      STRING(max)   terminated text of at most max bytes
//   OPTIONAL          null is fine                     CONSUMES(kind)  the handle is gone afterwards
//   ORDINAL           an int that names a device: checked in the client, the worker's ordinal on the wire
#pragma once

#define CALL(...)
#define ASKS(...)
#define POST(...)
#define CREATE(...)
#define CACHED(...)
#define CUSTOM(...)
#define SENDS(...)
#define ANSWERS(...)
#define FORWARDS
#define COMPOSED
#define LOCAL(...)
#define ALIAS(...)
#define REFUSED(...)
#define UNSUPPORTED
#define WORK(...)
#define NO_WORK
#define RECORDS(...)
#define AWAITS(...)
#define FILLS
#define CAPTURE(...)
#define REACHES_HOST
#define NEW_STREAM(...)
#define ENDS(...)
#define PROMPT
#define DIRECT
#define BRIEF(...)
#define CHECK(...)
#define SINCE(...)
#define OUTSIDE_CAPTURES
#define MANGLED(...)
#define ALSO(...)
#define IN(...)
#define OUT(...)
#define INOUT(...)
#define ARRAY(...)
#define STRING(...)
#define OPTIONAL
#define ORDINAL
#define CONSUMES(...)
