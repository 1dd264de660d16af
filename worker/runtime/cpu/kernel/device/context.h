// SPDX-License-Identifier: Apache-2.0
// The contract between a CPU code object and the executor that runs it: plain C layout, versioned.
//
// Included by the executor and by the device support that hipcc-cpu links into every code object, so it
// includes only <stdint.h>. One HiprContext belongs to one block, and with it to one OS thread at a time.
#pragma once

#include <stdint.h>

#define HIPR_DEVICE_ABI 6u
// Its code objects still run: they know a part of the services.
#define HIPR_OLDEST_DEVICE_ABI 3u
#define HIPR_WAVE_SIZE 64u
#define HIPR_TURNS_AT_ONCE 1024u
// Values of HiprContext::threads_wait.
#define HIPR_ON_ONE_STACK 0u       // threads run one after the other
#define HIPR_THREADS_WAIT 1u       // each has its stack, and they wait at every point of docs/waves.md
#define HIPR_THREADS_ALTERNATE 2u  // from ABI 6 on: each has its stack, since one of them waits in a loop
#define HIPR_DYNAMIC_SHARED_BYTES 65536u

#ifdef __cplusplus
extern "C" {
#endif

struct HiprContext;

// What every lane of a wave offered in one exchange. Valid until the calling thread's next exchange.
struct HiprWave {
  uint64_t active;         // bit n: lane n took part
  const uint64_t* values;  // HIPR_WAVE_SIZE of them; lanes that took no part have no meaning
};

// Provided by the executor. All are called on the HIP thread's own stack, and may switch to another thread's.
struct HiprServices {
  // Waits for every unfinished thread of the block; returns their combined values. operation: 0 none, 1 sum,
  // 2 and (of truth values), 3 or (of truth values).
  int32_t (*barrier)(struct HiprContext*, uint32_t operation, int32_t value);
  // `site` is the thread's position in its code: of lanes that diverged, those at the lowest position run
  // first.
  struct HiprWave (*exchange)(struct HiprContext*, uint64_t value, const void* site);
  void (*grid_barrier)(struct HiprContext*);
  void (*print)(struct HiprContext*, int32_t to_stderr, const char* text, uint64_t bytes);
  void (*trap)(struct HiprContext*);  // ends the grid with an error; does not return
  uint64_t (*clock_ns)(void);
  // Waits until every running lane of the wave waits for the others or has ended. Only if threads_wait.
  void (*step)(struct HiprContext*, const void* site);
  // From ABI 4 on. Memory of the device's heap; null: there is none left.
  void* (*allocate)(struct HiprContext*, uint64_t bytes);
  // Ends the grid with an error, and does not return, if `memory` is not an allocation of that heap.
  void (*release)(struct HiprContext*, void* memory);
  // From ABI 5 on. In ticks of the rate that hipDeviceAttributeClockRate says.
  uint64_t (*clock_ticks)(void);
  // From ABI 6 on. After HIPR_TURNS_AT_ONCE operations that a loop may wait with: lets other threads of the
  // block run, unless threads run one after the other and this one has made few of them. Only if threads_wait
  // is not HIPR_THREADS_WAIT.
  void (*spins)(struct HiprContext*);
};

struct HiprContext {
  uint32_t thread[3];
  uint32_t block[3];
  uint32_t block_size[3];
  uint32_t grid_size[3];  // in blocks
  uint32_t static_shared_bytes;
  uint32_t dynamic_shared_bytes;
  uint32_t cooperative;
  uint32_t threads_wait;
  const struct HiprServices* services;
  // The target of __builtin_amdgcn_dispatch_ptr: the part of an AQL packet that compilers read.
  struct {
    uint16_t header, setup;
    uint16_t workgroup_size[3];
    uint16_t reserved;
    uint32_t grid_size[3];  // in threads
    uint32_t private_bytes, group_bytes;
    uint64_t kernel_object, kernarg_address, reserved2, completion_signal;
  } packet;
  // From ABI 6 on. Operations of its threads that a loop may wait with. Only code objects use it.
  uint32_t turns;
};

// Runs the threads [first, end) of one row (x axis) of a block, one after the other: "__hipr_run_<kernel>".
typedef void (*HiprRun)(const void* arguments, uint32_t first, uint32_t end);

// What every code object exports as "__hipr_module".
struct HiprModule {
  uint64_t device_abi;                 // HIPR_DEVICE_ABI of its compiler
  void (*enter)(struct HiprContext*);  // binds the calling OS thread to a context
};

#ifdef __cplusplus
}
#endif
