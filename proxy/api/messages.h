// SPDX-License-Identifier: Apache-2.0
// Messages of the functions whose bodies are written by hand (CUSTOM), and of the session itself.
//
// Parsed by tools/apigen, which emits protocol::<Name>Request / <Name>Reply with size and offset
// assertions, an Op value, round-trip tests and fuzz entries; so are the other files named *messages.h. Also valid C++.
//   MESSAGE(opcode, call|post|notice, Name) words { fields };   call: waits for REPLY. post: no reply; a failure
//                                                        comes back as a Fault. notice: worker to client. The words
//                                                        say what it means: "What it means" in words.h.
//   REPLY(Name) { fields };                              follows the i32 error of every reply.
//   TAIL(Name)                                           a variable tail of bytes follows the fields.
// Fields are fixed-width and naturally aligned; padding is spelled `reserved...` and is zero on the wire. `= number`:
// what the field is where its sender names no value.
// `stream`, `event`, ... fields are protocol::Handle values; addresses are real device addresses.
#pragma once

// --- 0x00xx connection -------------------------------------------------------------------------------

// The client is done; the worker drains the queue and ends the session.
MESSAGE(0x0004, post, Goodbye) NO_WORK { u64 reserved; };

// A posted request failed, or (opcode and request 0) work did, as the runtime said to the worker. Sent once per
// failure, ahead of later replies, so that a later synchronizing call of the client finds it already noted.
MESSAGE(0x0008, notice, Fault) {
  i32 error;              // hipError_t
  u32 failed_opcode;
  u32 failed_request_id;
  u32 device;
  u64 stream;             // Handle of the stream concerned; 0 when none
};

// A host callback is due: the stream waits until the client has said that it is done (hipcore/wire/control_message.h).
MESSAGE(0x0009, notice, CallbackDue) {
  u64 cookie;
  i32 error;              // status of the stream, for hipStreamAddCallback
  u32 output;             // as in the prefix of a reply (ReplyPrefix)
};

// A kernel has failed, and the device with it: for the program's user, in the words of the tail.
MESSAGE(0x000a, notice, DeviceFailed) { i32 error; u32 device; };
TAIL(DeviceFailed)

// HostCallback or CopyInTurn has failed, as a Fault in front of this says: it will not be due.
MESSAGE(0x000b, notice, CallbackRefused) { u64 cookie; };

// The worker's CLOCK_MONOTONIC. A client that traces compares it with its own.
MESSAGE(0x000c, call, ReadClock) PROMPT { u64 reserved; };
REPLY(ReadClock) { u64 now_ns; };

// From now on the worker notes when its runtime executes kernels, copies, fills and graphs (hip-remote run --trace).
MESSAGE(0x000d, call, TraceExecutions) { u64 reserved; };

// What was executed by now and not sent yet: it comes in front of the answer, as Executions.
MESSAGE(0x000e, call, FetchExecutions) { u64 reserved; };
REPLY(FetchExecutions) {
  u64 left_out;           // since the beginning, there was no room for
  u64 error_ns;           // times may be wrong by so much, against the worker's clock
  u32 unfinished;         // begun, or waiting in streams
  u32 more;               // 1: there are more than came with this answer
};

// The tail: Execution structs (hipcore/wire/execution.h), at most kExecutionsInNotice.
MESSAGE(0x000f, notice, Executions) { u64 reserved; };
TAIL(Executions)

// While executions are traced: the name of a kernel, cut to kExecutionNameBytes, before it is executed.
MESSAGE(0x0010, notice, FunctionNamed) { u64 function; };
TAIL(FunctionNamed)

// --- 0x01xx device -----------------------------------------------------------------------------------

// The reply has the limit as the runtime keeps it, which may be more than `value`.
MESSAGE(0x0115, call, SetLimit) { u32 limit; u32 reserved; u64 value; };
REPLY(SetLimit) { u64 value; };

// hipDeviceReset, as far as it is the worker's: what kernels have allocated, access to peers. The client has waited for
// the device.
MESSAGE(0x0118, post, ResetDevice) NO_WORK { u64 reserved; };

// --- 0x02xx memory -----------------------------------------------------------------------------------

// Payload arrives on the bulk plane under `tag`, `bytes` long.
MESSAGE(0x0210, post, CopyToDevice) WORK(stream) CAPTURE(asked) DIRECT {
  u64 target;
  u64 bytes;
  u64 stream;
  u64 tag;
};

// The payload is the tail of the message: small copies.
MESSAGE(0x0211, post, CopyToDeviceInline) WORK(stream) CAPTURE(asked) {
  u64 target;
  u64 stream;
};
TAIL(CopyToDeviceInline)

// The worker sends `bytes` under `tag`, or aborts the tag with the hipError_t.
MESSAGE(0x0212, post, CopyFromDevice) WORK(stream) CAPTURE(asked) DIRECT {
  u64 source;
  u64 bytes;
  u64 stream;
  u64 tag;
};

MESSAGE(0x0213, post, CopyOnDevice) WORK(stream) CAPTURE(asked) REACHES_HOST {
  u64 target;
  u64 source;
  u64 bytes;
  u64 stream;
};

// Strided boxes: `width` bytes x `height` rows x `depth` slices. On the bulk plane rows are packed.
// pitch: bytes from row to row; slice: bytes from slice to slice.
MESSAGE(0x0214, post, CopyBoxToDevice) WORK(stream) CAPTURE(asked) {
  u64 target;
  u64 target_pitch;
  u64 target_slice;
  u64 width;
  u64 height;
  u64 depth;
  u64 stream;
  u64 tag;
};

MESSAGE(0x0215, post, CopyBoxFromDevice) WORK(stream) CAPTURE(asked) {
  u64 source;
  u64 source_pitch;
  u64 source_slice;
  u64 width;
  u64 height;
  u64 depth;
  u64 stream;
  u64 tag;
};

MESSAGE(0x0216, post, CopyBoxOnDevice) WORK(stream) CAPTURE(asked) REACHES_HOST {
  u64 target;
  u64 target_pitch;
  u64 target_slice;
  u64 source;
  u64 source_pitch;
  u64 source_slice;
  u64 width;
  u64 height;
  u64 depth;
  u64 stream;
};

// A piece of a copy to the device whose payload is not to be read before the stream gets to the copy: then it is due,
// like a HostCallback, and the client sends the payload on the control connection, the rows packed. At most
// kTurnPayloadMax bytes (hipcore/wire/control_message.h).
MESSAGE(0x0217, post, CopyInTurn) WORK(stream) CAPTURE(asked) {
  u64 target;
  u64 target_pitch;
  u64 target_slice;
  u64 width;
  u64 height;
  u64 depth;
  u64 stream;
  u64 cookie;             // as HostCallback's, and of the same numbers
  u64 follows;            // cookie of the piece in front of it, if both are due when that one is; 0: of none
};

// Every form of hipMemset. The value fills each element with its low bytes.
MESSAGE(0x0260, post, Fill) WORK(stream) FILLS REACHES_HOST PROMPT BRIEF(pitch) {
  u64 target;
  u64 width;              // bytes in a row, a multiple of the element
  u64 stream = 0;
  u32 value;
  u32 form = 1;           // bytes of an element, 1, 2 or 4, with more than one row 1; and flags: hipcore/wire/fill.h
  u64 pitch = 0;          // bytes from row to row
  u64 slice = 0;          // bytes from slice to slice, a multiple of pitch
  u64 height = 1;
  u64 depth = 1;
};

// Virtual memory management. The addresses are the client's choice, inside the snapshot's `reservations`.
MESSAGE(0x0220, call, CreatePhysical) {
  u64 memory;             // Handle of the new memory
  u64 bytes;
  i32 shared_as;          // hipMemAllocationHandleType
  u32 reserved;
};

// Nothing refers to it any more, neither the program nor a mapping.
MESSAGE(0x0221, post, ReleasePhysical) NO_WORK { u64 memory; };

MESSAGE(0x0222, call, MapPhysical) {
  u64 address;
  u64 bytes;
  u64 offset;
  u64 memory;
  u64 range;              // what hipMemAddressReserve gave, and `address` lies in
  u64 range_bytes;
};

// Whole mappings, side by side. Waits until no device is busy.
MESSAGE(0x0223, call, UnmapPhysical) {
  u64 address;
  u64 bytes;
};

// Tail: AccessWish structs.
MESSAGE(0x0224, call, SetAccess) {
  u64 address;
  u64 bytes;
};
TAIL(SetAccess)

MESSAGE(0x0225, call, GetAccess) {
  u64 address;
  i32 device;             // the worker's ordinal
  u32 reserved;
};
REPLY(GetAccess) { u64 flags; };

// Memory for other sessions of the same worker. A key is known to the client that got it and to whom it tells.
// [address, address + bytes) lies in one of the session's leases.
MESSAGE(0x0230, call, ShareLease) {
  u64 address;
  u64 bytes;
};
REPLY(ShareLease) {
  u64 key_low;
  u64 key_high;
};

MESSAGE(0x0231, call, SharePhysical) { u64 memory; };
REPLY(SharePhysical) {
  u64 key_low;
  u64 key_high;
};

// What was shared with ShareLease: from now on nobody can open it any more.
MESSAGE(0x0232, post, WithdrawShared) NO_WORK {
  u64 key_low;
  u64 key_high;
};

// Somebody else's lease, at an address in the window of its device; outside of all windows, if it is an allocation of
// the runtime's.
MESSAGE(0x0233, call, OpenShared) {
  u64 key_low;
  u64 key_high;
};
REPLY(OpenShared) {
  u64 address;
  u64 bytes;
  i32 device;
  u32 reserved;
};

// Waits until no device is busy.
MESSAGE(0x0234, call, CloseShared) { u64 address; };

// Somebody else's physical memory under a handle of ours.
MESSAGE(0x0235, call, ImportPhysical) {
  u64 memory;
  u64 key_low;
  u64 key_high;
};
REPLY(ImportPhysical) {
  u64 bytes;
  i32 device;
  u32 reserved;
};

// Made with hipEventInterprocess. While it exists others can open it.
MESSAGE(0x0236, call, ShareEvent) { u64 event; };
REPLY(ShareEvent) {
  u64 key_low;
  u64 key_high;
};

MESSAGE(0x0237, call, OpenEvent) {
  u64 event;              // Handle of the new event
  u64 key_low;
  u64 key_high;
};
REPLY(OpenEvent) {
  i32 device;
  u32 reserved;
};

// Device memory is granted in leases; the client cuts hipMalloc from them (proxy/memory).
MESSAGE(0x0240, call, LeaseMemory) {
  u64 bytes;              // at least; the worker rounds up to its granularity
  u32 flags;              // hipDeviceMallocDefault; or of hipExtMallocWithFlags: then it lies outside the windows
  u32 reserved;
};
REPLY(LeaseMemory) {
  u64 address;
  u64 bytes;
  u32 mapped;             // 1: its file follows on the lease socket
  u32 reserved;
};

MESSAGE(0x0241, post, ReturnLease) NO_WORK { u64 address; };

// What the session has of a device, and could have besides: others may have leased or returned memory meanwhile.
MESSAGE(0x024a, call, FindFreeMemory) { u64 reserved; };
REPLY(FindFreeMemory) { u64 bytes; };

// hipFree of a block inside a lease: later requests run only after the device's earlier work is done,
// so the client may hand the block out again at once.
MESSAGE(0x0242, post, FreeMemory) NO_WORK { u64 address; };

// A part of the host window (device_snapshot.h) comes into use: whole kHostPartBytes, none of them in use.
MESSAGE(0x0243, call, OpenHostPart) {
  u64 address;
  u64 bytes;
  u64 copied;             // 1: it is a copy of memory that only the client has, also in a window that is shared
};

// Its contents are gone. What is sent later runs only after the devices' earlier work is done.
MESSAGE(0x0244, post, CloseHostPart) NO_WORK { u64 address; };

// HostAccess::kShared only: pages of a file that the client has passed under `number` (control_message.h) come to be at
// `address`, among the window's host_files_of(); what else the last kHostPartBytes of them would hold stays unused.
MESSAGE(0x0247, call, MapHostFile) {
  u64 number;
  u64 address;
  u64 bytes;
  u64 offset;
};

// As CloseHostPart; the pages stay the client's.
MESSAGE(0x0248, post, UnmapHostFile) NO_WORK { u64 address; };

// A piece is a mirror::Piece (hipcore/mirror), and lies in one part that is a copy (any of HostAccess::kMirrored).
// Pieces as the client has them, at once and not in the order of any stream. The payload is the Piece structs, then the
// bytes of one after another: under `tag` on the bulk plane, or as the tail if that is 0.
MESSAGE(0x0245, post, WriteHostPieces) NO_WORK {
  u64 tag;
  u64 pieces;
  u64 bytes;
};
TAIL(WriteHostPieces)

// What has changed at the worker inside the pieces in the tail, since the client had it. Behind the reply the worker
// sends it under `tag`, if there is anything: Piece structs, then bytes. `idle`: no device was at work.
MESSAGE(0x0246, call, FindHostChanges) { u64 tag; };
TAIL(FindHostChanges)
REPLY(FindHostChanges) {
  u64 pieces;
  u64 bytes;
  u32 idle;
  u32 reserved;
};

// --- 0x03xx stream, 0x04xx event ---------------------------------------------------------------------

MESSAGE(0x0300, call, SynchronizeDevice) { u64 reserved; };

MESSAGE(0x0304, call, SynchronizeStream) { u64 stream; };

MESSAGE(0x0305, call, QueryStream) PROMPT { u64 stream; };

// The stream is not done before what the null stream of its device has so far is (Rules::follows_null). polls: a
// query follows, not a wait.
MESSAGE(0x0306, post, FollowNull) WORK(stream) CAPTURE(asked) PROMPT { u64 stream; u64 polls; };

// The worker waits for the stream before it takes the next request. For waits whose end the program cannot see.
MESSAGE(0x0307, post, FinishStream) WORK(stream) CAPTURE(asked) { u64 stream; };

// What was sent on the stream before is still done.
MESSAGE(0x0314, post, DestroyStream) NO_WORK ENDS(stream) { u64 stream; };

// The mask of compute units of the stream's kernels; stream 0: of the device. `words`: as many as the device needs. The
// runtime is asked, since it may have been told of a mask for all its streams (ROC_GLOBAL_CU_MASK).
MESSAGE(0x031c, call, GetComputeUnits) { u64 stream; u32 words; u32 reserved; };
REPLY(GetComputeUnits) { u32 mask[64]; };
// A stream of the device with such a mask, the tail. Its kernels use these units as far as the runtime lets them.
MESSAGE(0x031d, post, CreateMaskedStream) NO_WORK { u64 created; u32 flags; i32 priority; }; TAIL(CreateMaskedStream)

MESSAGE(0x0330, post, HostCallback) WORK(stream) CAPTURE(asked) {
  u64 stream;
  u64 cookie;
};

// since: 0, or an event of the same device. If `event` is done, the reply has the time between the two: timed is 1 if
// the runtime knows it, and milliseconds has the bits of a float.
MESSAGE(0x0404, call, SynchronizeEvent) { u64 event; u64 since; };
REPLY(SynchronizeEvent) { u32 timed; u32 milliseconds; };

MESSAGE(0x0405, call, QueryEvent) PROMPT { u64 event; u64 since; };
REPLY(QueryEvent) { u32 timed; u32 milliseconds; };

// --- 0x06xx graphs -----------------------------------------------------------------------------------
// Graphs and captures are the client's. What it cuts out of a graph for the device is built here, node by
// node, and becomes one of the runtime's executable graphs. Nodes are numbered in the order in which they
// come; what is wrong with one is told by InstantiateGraph.

// Begins the graph from which `exec` will be made, or with which one will be updated.
MESSAGE(0x0600, post, BuildGraph) NO_WORK { u64 exec; };

// Tail of every node: `dependencies` numbers (u32) of earlier nodes, filled up to a multiple of 8 bytes. Then,
// of a kernel: the explicit arguments, as in Launch.
MESSAGE(0x0601, post, BuildKernelNode) NO_WORK REACHES_HOST {
  u64 exec;
  u64 function;
  u32 grid[3];            // in blocks
  u32 block[3];           // in threads
  u32 shared_bytes;
  u32 flags;              // kLaunchCooperative
  u32 dependencies;
  u32 reserved;
};
TAIL(BuildKernelNode)

MESSAGE(0x0602, post, BuildFillNode) NO_WORK REACHES_HOST {
  u64 exec;
  u64 target;
  u64 width;              // in elements
  u64 height;
  u64 pitch;              // in bytes
  u32 value;
  u32 element_bytes;
  u32 dependencies;
  u32 reserved;
};
TAIL(BuildFillNode)

MESSAGE(0x0603, post, BuildCopyNode) NO_WORK REACHES_HOST {
  u64 exec;
  u64 target;
  u64 target_pitch;
  u64 target_slice;
  u64 source;
  u64 source_pitch;
  u64 source_slice;
  u64 width;
  u64 height;
  u64 depth;
  u32 dependencies;
  u32 reserved;
};
TAIL(BuildCopyNode)

MESSAGE(0x0604, post, BuildEmptyNode) NO_WORK {
  u64 exec;
  u32 dependencies;
  u32 reserved;
};
TAIL(BuildEmptyNode)

MESSAGE(0x0610, call, InstantiateGraph) { u64 exec; };

// `exec` becomes what was built as `built`: by the runtime's own update, or anew where it refuses.
MESSAGE(0x0611, call, UpdateGraph) {
  u64 exec;
  u64 built;
};

MESSAGE(0x0612, post, LaunchGraph) WORK(stream) CAPTURE(asked) REACHES_HOST {
  u64 exec;
  u64 stream;
};

MESSAGE(0x0613, post, DestroyGraph) NO_WORK { u64 exec; };
