// SPDX-License-Identifier: Apache-2.0
// Executions: when the runtime executes what a session's client asked for, for clients that trace.
//
// An event of the runtime goes in front of the work, and one behind it; when both have happened, their times
// are what the client gets. A runtime tells times between events only. So each device has a reference: an
// event that was recorded when the device was idle, whose time on the worker's CLOCK_MONOTONIC is therefore
// known within the time that recording it took. It is renewed as often as the device is idle; a device that
// is never idle continues from its last execution.
//
// Off, it costs each request that leaves work a load and a branch. On, memory is limited: what finds no room
// is counted, and nothing waits for the client. Belongs to the executor thread.
#pragma once

#include <hip/hip_runtime_api.h>

#include <cstddef>
#include <cstdint>
#include <deque>
#include <list>
#include <string_view>
#include <vector>

#include "hipcore/wire/execution.h"
#include "hipcore/wire/gen/hip_table.h"
#include "hipcore/wire/gen/messages.h"
#include "transport/frame.h"
#include "worker/base/current_device.h"
#include "worker/base/own_calls.h"
#include "worker/base/sender.h"

namespace tf::worker {

inline constexpr std::size_t kExecutionsOpenMax = 4096;   // two events each
inline constexpr std::size_t kExecutionsKeptMax = 16384;  // executed and not fetched: 640 KiB

class Executions {
 public:
  // All outlive it.
  Executions(const protocol::HipTable& hip, OwnCalls& own_calls, CurrentDevice& device, Sender& sender)
      : hip_(hip), own_calls_(own_calls), device_(device), sender_(sender) {}
  Executions(const Executions&) = delete;
  Executions& operator=(const Executions&) = delete;

  bool on() const { return on_; }
  void turn_on() { on_ = true; }

  // What is put on the stream between these is one execution. REQUIRES: on(); `device` is the stream's, and
  // current in both. False: it is not noted, and end() must not follow.
  bool begin(const FrameHeader& request, hipStream_t stream, int device, std::uint64_t raw_stream,
             std::uint64_t subject);
  void end();
  // One that no stream executed.
  void note(const protocol::Execution& execution);
  // The client is told. Does nothing when off.
  void name(std::uint64_t function, std::string_view name);

  // Sends what is known by now, at most kExecutionsInNotice.
  protocol::FetchExecutionsReply fetch();
  // Gives its objects back. REQUIRES: the devices are idle
  void release();

  static std::uint64_t now_ns();

 private:
  struct Open {
    hipEvent_t begin = nullptr;
    hipEvent_t end = nullptr;
    hipStream_t stream = nullptr;
    protocol::Execution execution;
  };
  struct Reference {
    hipEvent_t event = nullptr;  // null: there is none yet
    hipStream_t stream = nullptr;
    std::uint64_t ns = 0;
    std::uint64_t error_ns = 0;
    std::size_t open = 0;            // executions of this device
    std::vector<hipEvent_t> spares;  // events
  };

  Reference& reference(int device);
  bool refer(Reference& reference);
  bool try_reference(Reference& reference, hipEvent_t event);
  hipEvent_t take_event(Reference& reference);
  void collect();
  void finish(Open& open);
  bool time_of(const Reference& reference, hipEvent_t event, std::uint64_t& ns);

  const protocol::HipTable& hip_;
  OwnCalls& own_calls_;
  CurrentDevice& device_;
  Sender& sender_;
  bool on_ = false;
  Open begun_;            // between begin() and end()
  std::list<Open> open_;  // on streams
  std::deque<protocol::Execution> done_;
  std::vector<Reference> references_;  // by device
  std::uint64_t left_out_ = 0;
  std::uint64_t error_ns_ = 0;  // the largest
};

// An execution that lasts as long as this object, if executions are noted.
class ExecutionScope {
 public:
  ExecutionScope(Executions& executions, const FrameHeader& request, hipStream_t stream, int device,
                 std::uint64_t raw_stream, std::uint64_t subject)
      : executions_(executions) {
    if (executions.on()) [[unlikely]]
      open_ = executions.begin(request, stream, device, raw_stream, subject);
  }
  ~ExecutionScope() {
    if (open_) [[unlikely]]
      executions_.end();
  }
  ExecutionScope(const ExecutionScope&) = delete;
  ExecutionScope& operator=(const ExecutionScope&) = delete;

 private:
  Executions& executions_;
  bool open_ = false;
};

}  // namespace tf::worker
