// SPDX-License-Identifier: Apache-2.0
// LastWords: a page that a session process shares with its supervisor. In it stands whom the process serves,
// and with which device it is at work; the supervisor reads it when the process has ended. So the log has it
// however that was: a process that a signal ends, in a driver or in code of ours, says nothing itself.
//
// The process writes, and runs what its client makes it run: the supervisor takes what it finds as any bytes.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "transport/base/status.h"
#include "transport/net/fd.h"

namespace tf::worker {

// The number of the page's descriptor in a session process.
inline constexpr int kLastWordsFd = 4;
inline constexpr std::size_t kClientWordsMax = 512;

class LastWords {
 public:
  // The supervisor's, which only reads. `file`: the session process's end.
  static Result<LastWords> make(net::OwnedFd& file);
  // The session process's.
  static Result<LastWords> open(net::OwnedFd file);

  // "CLIENT, device N", as far as it was said; empty: nothing was.
  std::string read() const;

  // REQUIRES for these: the session process's. Cut after kClientWordsMax bytes.
  void serve(std::string_view client);
  // For CurrentDevice, which stores the number of its current device there.
  std::atomic<std::int32_t>& device() { return page_->device; }

 private:
  struct Page {
    std::atomic<std::int32_t>
        device;  // behind one of HIP's; 0: none yet. Relaxed: read when the writer has ended
    std::atomic<std::uint32_t> client_bytes;
    char client[kClientWordsMax];
  };
  struct Unmap {
    void operator()(Page* page) const;
  };
  static Result<LastWords> map(int file, int protection);

  std::unique_ptr<Page, Unmap> page_;
};

}  // namespace tf::worker
