// SPDX-License-Identifier: Apache-2.0
// A thread that serves one connection, and sleeps while there is nothing to do.
#pragma once

#include <poll.h>

#include <atomic>
#include <cstddef>
#include <thread>

#include "transport/base/mutex.h"
#include "transport/base/spin.h"
#include "transport/base/status.h"
#include "transport/net/waker.h"

namespace tf::tcp {

class LaneThread {
 public:
  LaneThread() = default;
  LaneThread(const LaneThread&) = delete;
  LaneThread& operator=(const LaneThread&) = delete;

  // `name`: of the thread, a literal. kResourceExhausted: the system gives none.
  Status start(const char* name);
  // There may be something to do. Any thread.
  void wake() { waker_.notify(); }
  // Its thread is about to end, with `why`, unless it is already. Any thread.
  void end(const Status& why);
  // end() with kClosed, and waits until it has ended. A derived class calls it in its destructor.
  void stop();

  // Nothing moves any more. Any thread.
  bool is_over() const { return over_.load(std::memory_order_acquire); }  // pairs with finish()

 protected:
  ~LaneThread() = default;

  // The thread's: an operation ended without bytes, and is to be begun once more.
  bool again_ = false;

 private:
  // --- On the thread ---
  // Bytes moved; 0: nothing to do now.
  virtual Result<std::size_t> move_in() = 0;
  virtual Result<std::size_t> move_out() = 0;
  // They may find something to do. May say so in vain.
  virtual bool has_work() = 0;
  // What to pass to poll(2) meanwhile; the fd is -1 if there is nothing to wait for.
  virtual pollfd input() const = 0;
  virtual pollfd output() const = 0;
  // Nothing is moved any more. Once.
  virtual void let_go(const Status& why) = 0;
  // The last call, after is_over().
  virtual void tell_end(const Status& why) = 0;

  void run();
  Result<std::size_t> move();
  Status why_end() const;
  void finish(const Status& why);
  void await();
  // There is something to do, as far as this process's memory tells.
  bool has_call();
  // The same, or the socket has something.
  bool is_called();

  net::Waker waker_;
  SpinBudget spin_;
  std::thread thread_;
  std::atomic<bool> ending_{false};  // seq_cst; after why_, and before the wake-up
  std::atomic<bool> over_{false};
  mutable Mutex mutex_;
  Status why_ TF_GUARDED_BY(mutex_);  // what end() was told
};

}  // namespace tf::tcp
