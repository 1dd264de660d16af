// SPDX-License-Identifier: Apache-2.0
// Scenarios of fault_client that lie in files of their own, and what all of them use. Each returns the
// program's exit code.
#pragma once

#include <hip/hip_runtime_api.h>

#include <chrono>
#include <cstddef>
#include <string>

namespace faults {

using Clock = std::chrono::steady_clock;

// A line on standard output: a word and two numbers.
void say(const char* what, long value = 0, long more = 0);
long milliseconds_since(Clock::time_point start);
// What every scenario ends with once a call has failed: later calls fail too, and at once.
int report_loss(hipError_t error);
// Launches a kernel of kernels.hip with one thread on the null stream.
hipError_t launch(const char* kernel, void** arguments);
// The same with the one that counts to `steps`.
hipError_t launch(unsigned long long steps);

// busy.cc. Copies of `bytes` while something of the program's takes `busy_ms`: "busy-in" to the device behind
// a host callback, "busy-async" the same without waiting, "busy-kernel" behind a kernel, "busy-out" from the
// device while a host callback runs. Says "busy" with the time it took and the bytes that were wrong.
int busy(const char* scenario, std::size_t bytes, long busy_ms);

// attack.cc. System calls that a kernel makes in the session's process; each says its name, its result and
// errno.
int attack_process(long pid);                                 // against another process
int attack_file(const char* path);                            // against a file and its folder
int attack_descriptor(long descriptor);                       // whether the session has it
int attack_system();                                          // sockets, rings, namespaces
int attack_log(const std::string& text, long lines);          // writes lines to the session's standard error
int attack_see(const char* path);                             // whether a file is there
int attack_bomb(long limit);                                  // forks until that fails
int attack_fill(const char* path, long mib);                  // writes to a file until that fails
int attack_write(const char* path, const std::string& text);  // writes a text to a file
int attack_burn(long milliseconds, unsigned blocks);          // keeps cores busy, then waits for a line
int attack_stay();                                            // leaves a process behind, then waits for a line

// descriptors.cc.
// Closes those of 0, 1 and 2 whose bit is set, then uses HIP. Says "ours" with the number of descriptors that
// the library has below 3, and of those that exec would keep; then "closed" with the number of failures.
int closed(int subset);
// Uses HIP with no descriptor left: "exhausted" with what failed and whether bytes were wrong, then "free"
// with what fails when there are some again.
int exhaust();

// shares.cc. These go on when the driver sends a line.
// Says "memory" with the error of an allocation: "malloc", "pitch", "async", "managed", "host", "array",
// "graph", "physical". After a line of input also "free", with the error and number of hipMemGetInfo.
int take_memory(const char* form, std::size_t bytes);
// Says "devices" with error and count; of each "device" with its bus, "total" as properties and as
// hipMemGetInfo have it, and "free".
int tell_devices();
// Says "streams" with how many there were and the last error, and "after" with what later calls say. Then it
// destroys one: "again", with the errors of that and of making another.
int make_streams(long wanted);
// Launches kernels for all cores without end; says "filling" when the first few have been posted.
int fill_queue();
// Says "latency_us" with the median and the 99th percentile of `count` small kernels that are waited for.
int measure_latency(long count);

}  // namespace faults
