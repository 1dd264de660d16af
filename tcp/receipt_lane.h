// SPDX-License-Identifier: Apache-2.0
// The connection that tells the peer what has come, where what is lost on one connection is sent again over
// another. Both directions, with a thread of its own: it never waits for payload or for a receive.
//
// On the wire, receipts of 32 bytes:
//   offset  size  field
//   0       8     what      the stripe of a piece that has landed; or the number of a connection
//   8       8     offset    of the piece; else 0
//   16      4     kind      kReceiptPiece; or kReceiptLost: this side neither sends nor reads on it any more
//   20      4     magic     'HIPR'
//   24      8     seal      of the fields before it (seal.h)
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>
#include <vector>

#include "tcp/engine.h"
#include "tcp/lane_thread.h"
#include "transport/base/mutex.h"

namespace tf::tcp {

inline constexpr std::uint32_t kReceiptMagic = 0x48495052;
inline constexpr std::uint32_t kReceiptPiece = 1;
inline constexpr std::uint32_t kReceiptLost = 2;
// Receipts that the peer has not read, beyond what its kernel holds. One more ends the endpoint.
inline constexpr std::size_t kReceiptsMax = 1 << 16;

struct Receipt {
  std::uint64_t what = 0;
  std::uint64_t offset = 0;
  std::uint32_t kind = kReceiptPiece;
  std::uint32_t magic = kReceiptMagic;
  std::uint64_t seal = 0;
};
static_assert(sizeof(Receipt) == 32 && std::has_unique_object_representations_v<Receipt>);

// The value of its last field.
std::uint64_t seal_of(const Receipt& receipt);
// A failure is kProtocol and names the field and its value.
Status validate(const Receipt& receipt);

class ReceiptLane final : public LaneThread {
 public:
  // What it tells, on its thread.
  class Listener {
   public:
    // A failure ends it.
    virtual Status take_receipt(const Receipt& receipt) = 0;
    virtual void receipts_ended(const Status& why) = 0;

   protected:
    ~Listener() = default;
  };

  ReceiptLane(LaneIo io, Listener& listener) : io_(std::move(io)), listener_(listener) {}
  ~ReceiptLane() { stop(); }

  // Any thread. The seal is written here.
  void send(Receipt receipt);

 private:
  Result<std::size_t> move_in() override;
  Result<std::size_t> move_out() override;
  bool has_work() override;
  pollfd input() const override { return io_.receiver->wait_for(); }
  pollfd output() const override;
  void let_go(const Status& why) override;
  void tell_end(const Status& why) override { listener_.receipts_ended(why); }

  void flush();

  LaneIo io_;  // the thread's, and what follows
  Listener& listener_;
  Receipt in_;
  std::size_t received_ = 0;  // bytes of it
  std::vector<Receipt> out_;  // being sent
  std::size_t sent_ = 0;      // bytes of it
  bool blocked_ = false;      // the socket is full

  Mutex mutex_;
  std::vector<Receipt> waiting_ TF_GUARDED_BY(mutex_);
};

}  // namespace tf::tcp
