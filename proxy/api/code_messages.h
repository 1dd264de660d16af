// SPDX-License-Identifier: Apache-2.0
// Messages of code: modules, functions and variables, compilation, launches. The words and rules are those of
// messages.h.
#pragma once

// --- 0x05xx module and launch ------------------------------------------------------------------------

// Does the worker's cache hold this code object? XXH3-128 of its bytes.
MESSAGE(0x0500, call, ProbeModule) {
  u64 hash_low;
  u64 hash_high;
  u64 bytes;
};
REPLY(ProbeModule) {
  u32 have;
  u32 reserved;
};

// With tag 0 the bytes come from the cache; otherwise from the bulk plane, and are checked against the hash.
MESSAGE(0x0501, call, LoadModule) {
  u64 module;
  u64 hash_low;
  u64 hash_high;
  u64 bytes;
  u64 tag;
};

MESSAGE(0x0502, post, UnloadModule) NO_WORK { u64 module; };

// Tail: the kernel's name, without terminator.
MESSAGE(0x0503, post, GetFunction) NO_WORK {
  u64 module;
  u64 function;
};
TAIL(GetFunction)

// The same with an answer, for code objects that do not say themselves which kernels they have.
MESSAGE(0x0505, call, FindFunction) {
  u64 module;
  u64 function;
};
TAIL(FindFunction)

// What launching such a kernel takes to know. As many arguments as the reply holds, from first_argument on;
// fewer: there are no more.
MESSAGE(0x0506, call, DescribeFunction) {
  u64 function;
  u32 first_argument;
  u32 reserved;
};
REPLY(DescribeFunction) {
  u32 static_shared_bytes;
  u32 private_bytes;
  u32 max_threads_per_block;
  u32 registers;
  u32 arguments;
  u32 reserved;
  u32 offsets[48];
  u32 sizes[48];
};

// How many kernels such a code object has.
MESSAGE(0x050a, call, CountFunctions) { u64 module; };
REPLY(CountFunctions) {
  u32 count;
  u32 reserved;
};

// hiprtc on the worker. The program, as hipcore/wire/rtc_program.h encodes it, comes on the bulk plane under `tag`,
// by which it is called from then on. What is wrong with it is told by CompileProgram.
MESSAGE(0x0507, post, SendProgram) NO_WORK {
  u64 tag;
  u64 bytes;
};

// Compiles it for the device of the call. Answered when that is done, however long it takes; others go on.
MESSAGE(0x0508, call, CompileProgram) { u64 program; };
REPLY(CompileProgram) {
  u64 bytes;              // of the encoded result, which the worker keeps for a while
};

// The worker sends the result under `tag` and forgets it, or aborts the tag with a hipError_t.
MESSAGE(0x0509, post, FetchProgram) NO_WORK {
  u64 program;
  u64 tag;
};

// Tail: the variable's name, without terminator.
MESSAGE(0x0504, call, GetGlobal) { u64 module; };
TAIL(GetGlobal)
REPLY(GetGlobal) {
  u64 address;
  u64 bytes;
};

// The module's managed variable is this host memory that devices reach. Tail: its name, without terminator. A
// module without it is none the worse: no kernel there uses it.
MESSAGE(0x050b, post, BindManaged) NO_WORK {
  u64 module;
  u64 address;
};
TAIL(BindManaged)

// Tail: the explicit kernel arguments, laid out as the code object's metadata says.
MESSAGE(0x0510, post, Launch) WORK(stream) CAPTURE(asked) REACHES_HOST PROMPT {
  u64 function;
  u64 stream;
  u64 start_event;        // 0, or recorded right before the kernel
  u64 stop_event;         // 0, or recorded right after it
  u32 grid[3];            // in blocks; with kLaunchThreads in threads
  u32 block[3];           // in threads
  u32 shared_bytes;
  u32 flags;              // kLaunchCooperative, kLaunchThreads
};
TAIL(Launch)
