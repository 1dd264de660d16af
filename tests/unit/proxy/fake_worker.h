// SPDX-License-Identifier: Apache-2.0
// FakeWorker: answers a proxy session over a loopback endpoint, in the same process, without any HIP runtime.
//
// Device memory is ordinary memory of the process; every stream is one ordered queue. Enough of a worker to
// test what the proxy does with its answers: leases, copies, faults, callbacks, modules, launches.
#pragma once

#include <atomic>
#include <deque>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <thread>
#include <vector>

#include "hipcore/mirror/order.h"
#include "hipcore/mirror/piece.h"
#include "hipcore/wire/device_snapshot.h"
#include "hipcore/wire/gen/messages.h"
#include "transport/base/mutex.h"
#include "transport/endpoint.h"
#include "transport/net/fd.h"

namespace tf::proxy {

protocol::WorkerSnapshot fake_snapshot(std::uint64_t memory_bytes);

class FakeWorker final : private MessageSink {
 public:
  // `control`: its end of the control connection. Without one it never learns that a callback is done.
  FakeWorker(std::unique_ptr<Endpoint> endpoint, std::uint64_t memory_bytes, net::OwnedFd control = {});
  ~FakeWorker();

  // Breaks the connection, as a dying worker does.
  void die();

  std::atomic<int> leases{0};
  std::atomic<int> leases_returned{0};
  std::atomic<int> frees{0};
  std::atomic<int> code_received{0};
  std::atomic<int> launches{0};
  std::atomic<int> calls{0};
  std::atomic<int> messages{0};
  std::atomic<bool> goodbye{false};
  // The next CopyToDeviceInline fails with this instead of being done.
  std::atomic<int> fail_next_copy{0};
  // The next CopyFromDevice is aborted with this.
  std::atomic<int> abort_next_copy{0};
  // The next CopyFromDevice is the last that is heard of the worker.
  std::atomic<bool> die_of_next_copy{false};

  // What comes of the next program to be compiled, or of fetching its result: a hipError_t.
  std::atomic<int> fail_next_compile{0};
  // Compiling takes for ever; `compiling` says that it has begun.
  std::atomic<bool> compile_for_ever{false};
  std::atomic<bool> compiling{false};
  std::atomic<std::uint64_t> claim_result_bytes{0};  // in place of its size
  std::atomic<int> abort_next_fetch{0};

  // Host functions are not queued.
  std::atomic<bool> refuse_callbacks{false};

  // What every answer says of kernels' output (ReplyPrefix::output).
  std::atomic<std::uint32_t> printed{0};

  // What StreamGetFlags answers; negative: hipErrorInvalidHandle.
  std::atomic<int> stream_flags{0};

  std::vector<std::byte> last_arguments();

  // Mirrored memory. What clients have written, in order, since the last call; and what FindHostChanges finds
  // next, filled with `value`.
  std::vector<mirror::Piece> host_pieces_written();
  void change_host(const mirror::Piece& piece, std::byte value);
  // What was ordered on the control connection since the last call, in order; a callback that is done is an
  // order of no kind.
  struct Ordered {
    mirror::Order order;
    std::vector<mirror::Piece> pieces;
    bool callback_done = false;
  };
  std::vector<Ordered> ordered();
  std::atomic<int> parts_opened{0};
  std::atomic<bool> idle{true};        // no device is at work
  std::atomic<std::uint64_t> skew{0};  // added to the addresses of what is found

 private:
  // One queued piece of work; returns true when it is over.
  using Step = std::function<bool()>;

  Status on_message(const FrameHeader& header, std::span<const std::byte> payload) override;
  void copy_to_device(std::span<const std::byte> payload);
  void copy_from_device(std::span<const std::byte> payload);
  void copy_box_to_device(std::span<const std::byte> payload);
  void copy_box_from_device(std::span<const std::byte> payload);
  void callback(std::span<const std::byte> payload);
  void load_module(const FrameHeader& header, std::span<const std::byte> payload);
  void receive_program(std::span<const std::byte> payload);
  void compile_program(const FrameHeader& header, std::span<const std::byte> payload);
  void send_result(std::span<const std::byte> payload);
  void lease(const FrameHeader& header, std::span<const std::byte> payload);
  void write_host(std::span<const std::byte> payload);
  void find_host(const FrameHeader& header, std::span<const std::byte> payload);
  void send_changes(std::uint64_t tag);
  void inline_copy(const FrameHeader& header, std::span<const std::byte> payload);
  void reply_later(const FrameHeader& header, std::int32_t error = 0);
  void reply(const FrameHeader& header, std::int32_t error, std::span<const std::byte> body = {});
  void send(FrameHeader header, std::span<const std::byte> payload);
  void read_control();
  void carry_out(const mirror::OrderParts& parts);
  std::vector<std::byte> take_changes() TF_REQUIRES(mutex_);
  void run();

  std::unique_ptr<Endpoint> endpoint_;
  const net::OwnedFd control_;
  const std::uint64_t memory_bytes_;
  std::uint64_t memory_left_;
  std::map<std::uint64_t, std::unique_ptr<std::byte[]>> memory_;
  std::deque<Step> steps_;
  // Answers to orders, kept until the end.
  std::vector<std::pair<std::shared_ptr<std::vector<std::byte>>, std::shared_ptr<BulkCompletion>>> sent_;
  std::map<std::pair<std::uint64_t, std::uint64_t>, bool> known_code_;
  std::map<std::uint64_t, std::vector<std::byte>> programs_;  // and what they became
  std::map<std::uint64_t, bool> callbacks_;                   // cookie -> done
  Mutex mutex_;
  std::vector<std::byte> arguments_ TF_GUARDED_BY(mutex_);
  std::vector<mirror::Piece> host_written_ TF_GUARDED_BY(mutex_);
  std::vector<std::pair<mirror::Piece, std::byte>> host_changes_ TF_GUARDED_BY(mutex_);
  std::vector<Ordered> ordered_ TF_GUARDED_BY(mutex_);
  std::atomic<bool> stop_{false};
  std::thread thread_;
};

}  // namespace tf::proxy
