// SPDX-License-Identifier: Apache-2.0
// FakeFabric: devices, links and a verbs provider in this process, strict about the rules of the real ones.
//
// verbs() is a table like that of rdma::load_verbs(). Queue pairs (RC only) are connected by GID or LID and
// number, as usual; a thread of the fabric, the "NIC", executes what was posted, in order per queue pair,
// some time after the post. What a user of the table must know:
//
//  - Bytes of a request that is not inline are read when it is executed, never when posted; bytes of a READ's
//    target and of a WRITE's target appear then. Aligned pieces of up to 64 bytes in whole 8-byte words are
//    moved word by word, sequentially consistent, so words may be polled as std::atomic_ref. Up to 64 KiB
//    may be looked at as such words, too, but come in whatever order. Memory is synchronized by poll_cq()
//    alone (thread sanitizer sees the rest).
//  - A slot of a send queue is free again when a completion at or behind it has been polled; of a receive
//    queue, when its completion has been polled. ENOMEM beyond. create_qp() gives what was asked for, no
//    more.
//  - Completions with an error have only wr_id, status, qp_num and vendor_err; the rest is junk on purpose.
//  - destroy_qp() removes the queue pair's completions from its queues. destroy_cq() with events that were
//    got and not acknowledged, or with queue pairs: EBUSY (the former would hang for ever elsewhere).
//  - dereg_mr() of memory that a request still needs locally: EBUSY and a violation. A peer's request that
//    meets memory that is gone: its IBV_WC_REM_ACCESS_ERR, and both queue pairs are in error.
//  - modify_qp() knows RESET -> INIT -> RTR -> RTS and anything -> ERR, with the masks of the manual page.
//  - What no correct program does is in violations(); a test ends with EXPECT_EQ(fabric.violations(), none).
//
// All functions: any thread. The fabric outlives everything that came from its table, and is destroyed when
// nothing uses it any more.
#pragma once

#include <infiniband/verbs.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "rdma/verbs.h"

namespace tf::test {

namespace fake {
class Core;
}

// IPv4-mapped, of "10.0.0.1"; else of an IPv6 address.
ibv_gid fake_gid(const std::string& address);

struct FakeGid {
  std::uint32_t index = 0;
  ibv_gid gid{};
  ibv_gid_type type = IBV_GID_TYPE_ROCE_V2;
};

struct FakePort {
  ibv_port_state state = IBV_PORT_ACTIVE;
  std::uint8_t link_layer = IBV_LINK_LAYER_ETHERNET;
  std::uint16_t lid = 0;  // unique in the fabric; queue pairs with link layer InfiniBand are found by it
  ibv_mtu active_mtu = IBV_MTU_4096;
  std::uint32_t max_message = 1u << 30;  // bytes
  std::vector<FakeGid> gids;
};

struct FakeDevice {
  std::string name;
  ibv_transport_type transport_type = IBV_TRANSPORT_IB;
  std::vector<FakePort> ports;  // number 1 first
  std::uint32_t max_inline = 256;
  bool dmabuf = false;  // reg_dmabuf_mr(): any descriptor that can be mapped will do
  // phys_port_cnt is that of `ports`.
  ibv_device_attr_ex attributes = default_attributes();

  static ibv_device_attr_ex default_attributes();
  // "fake<number>" with one active RoCE port: GID 0 link local of type RoCE v1, 1 and 2 RoCE v2 of the link
  // local and of the IPv4 address 10.9.0.<number + 1>.
  static FakeDevice make(unsigned number);
};

// Of one queue pair or of all that there were.
struct FakeCounters {
  std::uint64_t work_requests = 0;  // accepted by post_send
  std::uint64_t doorbells = 0;      // calls of post_send that accepted something
  std::uint64_t receives = 0;       // accepted by post_recv
  std::uint64_t receive_doorbells = 0;
  std::uint64_t executed[16] = {};  // without error, by ibv_wr_opcode
  std::uint64_t bytes_written = 0;  // by SEND and WRITE
  std::uint64_t bytes_read = 0;     // by READ
  std::uint64_t completions = 0;    // entries made in completion queues, of sends
  std::uint64_t receive_completions = 0;
  std::uint64_t rnr = 0;             // times that the peer had no receive ready
  std::uint64_t repeated_reads = 0;  // that met memory they may read
  // Of all only, not by queue pair: what callers do instead of waiting, and registrations.
  std::uint64_t polls = 0;
  std::uint64_t armings = 0;               // req_notify_cq
  std::uint64_t events = 0;                // of completion channels
  std::uint64_t registrations = 0;         // that succeeded
  std::uint64_t remote_registrations = 0;  // of those: that let a peer in
};

class FakeFabric {
 public:
  using Nanoseconds = std::chrono::nanoseconds;

  // Two devices as FakeDevice::make() makes them.
  FakeFabric();
  // At most 8 fabrics at a time.
  explicit FakeFabric(std::vector<FakeDevice> devices);
  FakeFabric(const FakeFabric&) = delete;
  FakeFabric& operator=(const FakeFabric&) = delete;
  ~FakeFabric();

  const rdma::Verbs* verbs() const;

  // --- Looking -------------------------------------------------------------------------------------------
  std::vector<std::string> violations() const;
  FakeCounters counters() const;  // of all queue pairs, also destroyed ones
  FakeCounters counters(std::uint32_t qp_num) const;
  // Those of a device that exist now.
  std::vector<std::uint32_t> queue_pairs(const std::string& device) const;
  // What modify_qp() was given, all together; zero where there is no such queue pair.
  ibv_qp_attr attributes(std::uint32_t qp_num) const;
  // Asynchronous events of all contexts of the device that nobody has fetched.
  std::size_t pending_events(const std::string& device) const;
  // Contexts, protection domains, regions, channels, completion queues and queue pairs that exist.
  std::size_t live_objects() const;
  std::size_t registered_bytes() const;
  // Returns when nothing posted waits for execution or completion; false after `limit`. Requests that are
  // tried again (no receive, no peer), or behind pause(), count as waiting, and so do READs to be repeated.
  bool wait_idle(std::chrono::milliseconds limit = std::chrono::seconds(10)) const;

  // On from the start: that the (first 64 KiB of) bytes of a request which is not inline change between its
  // post and its completion is a violation.
  void set_watching(bool watching);

  // --- Time ------------------------------------------------------------------------------------------
  // While paused nothing is executed, completed or flushed.
  void pause();
  void resume();
  void set_execution_delay(Nanoseconds delay);   // from the post
  void set_completion_delay(Nanoseconds delay);  // from the execution; the next request does not wait for it
  // Every request and every completion is late by up to `most` more, so that queue pairs overtake each other.
  void set_jitter(Nanoseconds most, unsigned seed = 1);
  void set_retry_time(Nanoseconds time);  // until a peer that does not answer is given up; default 20 ms
  void set_rnr_time(Nanoseconds time);    // between tries; default 1 ms
  // READs are executed so much later, and requests behind them that have no fence pass them, as is allowed.
  void set_read_lateness(Nanoseconds lateness);
  // From now on every READ is asked for once more, so much after it was executed, and its bytes thrown away:
  // a requester does so that took an answer for lost. Memory that is gone by then ends the peer's queue pair.
  void repeat_reads_after(Nanoseconds delay);

  // --- Faults ----------------------------------------------------------------------------------------
  // The next request of this kind, after `skip` others, ends with `status` and without effect.
  void fail_next(ibv_wr_opcode opcode, ibv_wc_status status, unsigned skip = 0);
  // Nothing passes between the two devices (which may be the same).
  void cut_link(const std::string& device, const std::string& other);
  void mend_link(const std::string& device, const std::string& other);
  void fail_qp(std::uint32_t qp_num);           // to error, IBV_EVENT_QP_FATAL
  void fail_device(const std::string& device);  // all its queue pairs, IBV_EVENT_DEVICE_FATAL
  // Only says so, and changes nothing: of the device or its port 1, to each of its contexts;
  void raise(ibv_event_type type, const std::string& device);
  // of a queue pair, or of its completion queue of sends.
  void raise(ibv_event_type type, std::uint32_t qp_num);
  // IBV_EVENT_PORT_ERR or IBV_EVENT_PORT_ACTIVE; while a port is down nothing passes.
  void set_port_state(const std::string& device, std::uint8_t port, ibv_port_state state);
  // The next `count` calls fail with `error`.
  void refuse_create_qp(int error, unsigned count = 1);
  void refuse_create_cq(int error, unsigned count = 1);
  void refuse_reg_mr(int error, unsigned count = 1);
  // What some drivers do: post_send() and post_recv() refuse a queue pair in error (EINVAL); receives that
  // are flushed raise no completion event.
  void set_refusing_posts_in_error(bool refusing);
  void set_silent_flushes(bool silent);
  // Registrations beyond this many bytes in all fail with ENOMEM.
  void set_memory_limit(std::size_t bytes);

 private:
  std::unique_ptr<fake::Core> core_;
};

}  // namespace tf::test
