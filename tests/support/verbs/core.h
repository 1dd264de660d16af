// SPDX-License-Identifier: Apache-2.0
// What is behind FakeFabric: its objects and the state that all functions of the table share.
//
// Everything is guarded by Core::mutex, which the NIC's thread holds while it executes one request. Objects
// are the verbs structures with more behind them; the table's functions find the fabric through the context.
#pragma once

#include <infiniband/verbs.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <thread>
#include <unordered_map>
#include <utility>
#include <vector>

#include "tests/support/verbs/fake_fabric.h"
#include "transport/base/mutex.h"

namespace tf::test::fake {

using Clock = std::chrono::steady_clock;

struct Device : ibv_device {
  Core* core = nullptr;
  FakeDevice facts;
};

struct Context : ibv_context {
  Core* core = nullptr;
  Device* of = nullptr;
  std::size_t children = 0;  // domains, channels, completion queues
  std::deque<ibv_async_event> events;
};

struct Pd : ibv_pd {
  std::size_t children = 0;  // regions, queue pairs
};

struct Mr : ibv_mr {
  Device* of = nullptr;
  std::uint64_t start = 0;  // the address that requests use
  std::byte* memory = nullptr;
  std::size_t mapped = 0;  // bytes to unmap: a dma-buf's
  int access = 0;
  std::size_t uses = 0;     // pieces of requests that are not finished
  bool everything = false;  // implicit on-demand paging
  bool covers(std::uint64_t address, std::uint64_t bytes) const;
  std::byte* at(std::uint64_t address) const;
};

struct Cq;

struct Channel : ibv_comp_channel {
  std::deque<Cq*> events;
  std::size_t queues = 0;
};

struct Completion {
  ibv_wc wc{};
  bool of_receive = false;
  bool solicited = false;
  std::uint64_t sequence = 0;  // the request's, counted from 1
};

struct Cq : ibv_cq {
  enum class Armed : std::uint8_t { kNo, kSolicited, kNext };
  std::size_t capacity = 0;
  std::deque<Completion> entries;
  Armed armed = Armed::kNo;
  bool dead = false;
  std::size_t queue_pairs = 0;     // two for one whose queues share it
  std::size_t unacknowledged = 0;  // completion events
  std::size_t unacknowledged_async = 0;
};

struct Send {
  ibv_send_wr wr{};  // sg_list is not ours to follow
  std::vector<ibv_sge> pieces;
  std::vector<std::byte> inline_bytes;
  std::vector<std::byte> watched;  // the first bytes that it sends, as they were when it was posted
  std::uint64_t bytes = 0;
  std::uint64_t sequence = 0;
  Clock::time_point execute_at{};
  bool executed = false;
  Clock::time_point complete_at{};
  ibv_wc_status status = IBV_WC_SUCCESS;
  unsigned rnr_tries = 0;
  std::optional<Clock::time_point> silent_since;  // the peer has not answered since
  bool is_inline() const { return (wr.send_flags & IBV_SEND_INLINE) != 0; }
  bool takes_receive() const {
    return wr.opcode == IBV_WR_RDMA_WRITE_WITH_IMM || wr.opcode == IBV_WR_SEND ||
           wr.opcode == IBV_WR_SEND_WITH_IMM;
  }
  bool carries_immediate() const {
    return wr.opcode == IBV_WR_RDMA_WRITE_WITH_IMM || wr.opcode == IBV_WR_SEND_WITH_IMM;
  }
  bool is_read() const { return wr.opcode == IBV_WR_RDMA_READ; }
};

struct Receive {
  std::uint64_t wr_id = 0;
  std::vector<ibv_sge> pieces;
  std::uint64_t sequence = 0;
};

struct Qp : ibv_qp {
  ibv_qp_cap cap{};
  bool all_signalled = false;
  ibv_qp_state now = IBV_QPS_RESET;  // ibv_qp::state is what its user last asked for
  ibv_qp_attr set{};                 // what modify_qp() has given
  std::deque<Send> sends;
  std::deque<Receive> receives;
  std::uint64_t sends_posted = 0, sends_retired = 0;  // sequence numbers
  std::uint64_t receives_posted = 0, receives_retired = 0;
  std::size_t unacknowledged_async = 0;
  FakeCounters counters;
};

struct Fault {
  ibv_wr_opcode opcode;
  ibv_wc_status status;
  unsigned skip;
};

// A READ that will be asked for again.
struct Repeat {
  std::uint32_t requester = 0, responder = 0;  // numbers of queue pairs
  std::uint32_t key = 0;
  std::uint64_t address = 0, bytes = 0;
  Clock::time_point at{};
};

struct Refusal {
  int error = 0;
  unsigned count = 0;
  bool take();  // sets errno
};

class Core {
 public:
  explicit Core(std::vector<FakeDevice> devices);
  ~Core();

  void violate(std::string what) TF_REQUIRES(mutex) { violations.push_back(std::move(what)); }
  Qp* find_qp(std::uint32_t number) TF_REQUIRES(mutex);
  void to_error(Qp& qp) TF_REQUIRES(mutex);
  void raise(Context& context, ibv_async_event event) TF_REQUIRES(mutex);
  // To each context of the device.
  void raise(ibv_event_type type, const std::string& device, int port = 1) TF_REQUIRES(mutex);
  void raise(ibv_event_type type, Qp& qp) TF_REQUIRES(mutex);  // or of its queue of sends
  void push(Cq& cq, Qp& qp, Completion completion) TF_REQUIRES(mutex);
  void complete_send(Qp& qp, const Send& send, ibv_wc_status status) TF_REQUIRES(mutex);
  void complete_receive(Qp& qp, const Receive& receive, ibv_wc wc, bool solicited) TF_REQUIRES(mutex);
  // change: 1 or std::size_t(-1)
  void count_uses(const std::vector<ibv_sge>& pieces, std::size_t change) TF_REQUIRES(mutex);
  Mr* find_local(const Qp& qp, const ibv_sge& piece, int access) TF_REQUIRES(mutex);
  Mr* find_remote(const Qp& responder, std::uint32_t key, std::uint64_t address, std::uint64_t bytes,
                  int access) TF_REQUIRES(mutex);
  void wake() { work.notify_all(); }

  mutable Mutex mutex;
  CondVar work;
  mutable CondVar idle;
  rdma::Verbs table{};
  int slot = -1;  // of get_device_list()

  std::vector<std::unique_ptr<Device>> devices;
  std::set<Context*> contexts TF_GUARDED_BY(mutex);
  std::map<std::uint32_t, Qp*> queue_pairs TF_GUARDED_BY(mutex);  // by number
  std::unordered_map<std::uint32_t, Mr*> local_keys TF_GUARDED_BY(mutex);
  std::unordered_map<std::uint32_t, Mr*> remote_keys TF_GUARDED_BY(mutex);
  std::vector<std::string> violations TF_GUARDED_BY(mutex);
  FakeCounters totals TF_GUARDED_BY(mutex);
  std::size_t objects TF_GUARDED_BY(mutex) = 0;
  std::size_t registered TF_GUARDED_BY(mutex) = 0;
  std::uint32_t next_qp TF_GUARDED_BY(mutex) = 0x11;
  std::uint32_t next_key TF_GUARDED_BY(mutex) = 0x1000;

  bool paused TF_GUARDED_BY(mutex) = false;
  bool ending TF_GUARDED_BY(mutex) = false;
  bool watching TF_GUARDED_BY(mutex) = true;
  bool refuses_in_error TF_GUARDED_BY(mutex) = false;
  bool silent_flushes TF_GUARDED_BY(mutex) = false;
  std::chrono::nanoseconds execution_delay TF_GUARDED_BY(mutex){0};
  std::chrono::nanoseconds completion_delay TF_GUARDED_BY(mutex){0};
  std::chrono::nanoseconds read_lateness TF_GUARDED_BY(mutex){0};
  std::chrono::nanoseconds jitter TF_GUARDED_BY(mutex){0};
  std::minstd_rand random TF_GUARDED_BY(mutex);
  std::chrono::nanoseconds some_jitter() TF_REQUIRES(mutex);
  std::chrono::nanoseconds retry_time TF_GUARDED_BY(mutex){std::chrono::milliseconds(20)};
  std::chrono::nanoseconds rnr_time TF_GUARDED_BY(mutex){std::chrono::milliseconds(1)};
  std::vector<Fault> faults TF_GUARDED_BY(mutex);
  std::optional<std::chrono::nanoseconds> repeat_delay TF_GUARDED_BY(mutex);
  std::deque<Repeat> repeats TF_GUARDED_BY(mutex);                          // by time
  std::set<std::pair<std::string, std::string>> cuts TF_GUARDED_BY(mutex);  // names in order
  Refusal refused_qps TF_GUARDED_BY(mutex);
  Refusal refused_cqs TF_GUARDED_BY(mutex);
  Refusal refused_mrs TF_GUARDED_BY(mutex);
  std::size_t memory_limit TF_GUARDED_BY(mutex) = std::numeric_limits<std::size_t>::max();

 private:
  std::thread nic_;  // last: runs over all of the above
};

// Of each request that is not inline so many bytes are watched, see FakeFabric::set_watching().
inline constexpr std::uint64_t kWatchedMax = 65536;
// The first bytes that `send` sends; empty where its local keys do not fit. posting.cc
std::vector<std::byte> look_at_source(Core& core, const Qp& qp, const Send& send) TF_REQUIRES(core.mutex);

// Memory that users may look at while it moves: see fake_fabric.h. nic.cc
void read_memory(const std::byte* memory, std::uint64_t bytes, std::byte* out);
void write_memory(std::byte* memory, std::uint64_t bytes, const std::byte* from);

// nic.cc: one turn over all queue pairs. When to look again at the latest, or nothing when there is nothing.
struct Turn {
  bool did_something = false;
  std::optional<Clock::time_point> next;
};
Turn take_turn(Core& core) TF_REQUIRES(core.mutex);
void run_nic(Core& core);

// --- The functions of the table, by file ------------------------------------------------------------------
void fill_device_functions(Core& core);              // devices.cc; also chooses the slot
void leave_device_functions(Core& core);             // gives it back
void fill_memory_functions(rdma::Verbs& table);      // memory.cc
void fill_completion_functions(rdma::Verbs& table);  // completions.cc
void fill_queue_functions(rdma::Verbs& table);       // queue_pairs.cc
void fill_posting_functions(rdma::Verbs& table);     // posting.cc

// Events of a queue or queue pair that is destroyed and that nobody has fetched.
void drop_events(Context& context, const void* element);

// A descriptor that can be read as often as it was written to, for poll(2); the queue's lock guards both.
int make_event_fd();
void signal_event_fd(int fd);
void take_from_event_fd(int fd);
// Waits until `fd` is readable; false with EAGAIN where it is not and O_NONBLOCK is set.
bool wait_event_fd(int fd);

template <typename Object>
Core& core_of(Object* object) {
  return *static_cast<Context*>(object->context)->core;
}

}  // namespace tf::test::fake
