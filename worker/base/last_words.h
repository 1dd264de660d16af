// SPDX-License-Identifier: Apache-2.0
// LastWords: a page that a session process shares with its supervisor. The process writes down whom it
// serves, the device it works with, what it has used and why it ends; the supervisor reads that when the
// process has ended. So the log has
// it however the process ended: one that a signal kills, in a driver or in our code, says nothing itself.
//
// The process runs what its client makes it run, so the supervisor treats the content as untrusted bytes.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "hipcore/wire/device_snapshot.h"
#include "transport/base/status.h"
#include "transport/net/fd.h"
#include "worker/base/device_readings.h"
#include "worker/base/session_tally.h"

namespace tf::worker {

// The page's descriptor number in a session process.
inline constexpr int kLastWordsFd = 4;
inline constexpr std::size_t kClientWordsMax = 512;
inline constexpr std::size_t kEndWordsMax = 512;

// A device that a session process found.
struct FoundDevice {
  std::uint64_t bytes = 0;  // of its memory; 0: unknown
  WatchedDevice name;
};

class LastWords {
 public:
  // For the supervisor, which only reads. `file`: the session process's end.
  static Result<LastWords> make(net::OwnedFd& file);
  // For the session process.
  static Result<LastWords> open(net::OwnedFd file);

  // An object of no page knows nothing, and nothing is written down.

  // "CLIENT, device N", as far as known; empty: nothing is known. `shown`: the devices that the process was
  // shown, by the operator's numbers; empty: all, so their ordinals are the operator's numbers.
  std::string read(std::span<const int> shown) const;

  // Why the process ended, in its words; empty: it said nothing.
  std::string read_end() const;
  // The device that the process calls `ordinal`. To be believed as long as the process has had no client.
  FoundDevice device(std::size_t ordinal) const;
  // Null: there is no page.
  const SessionTally* tally() const { return page_ != nullptr ? &page_->tally : nullptr; }

  // REQUIRES for these: called in the session process. Text is cut after kClientWordsMax bytes.
  void serve(std::string_view client);
  // Why it ends; the first time counts. Any thread.
  void end(std::string_view why);
  // Before it has a client: the devices that it found. Texts are cut.
  void show_devices(std::span<const FoundDevice> devices);
  SessionTally* tally() { return page_ != nullptr ? &page_->tally : nullptr; }
  // For CurrentDevice, which stores its current device's number there. Null: there is no page.
  std::atomic<std::int32_t>* device() { return page_ != nullptr ? &page_->device : nullptr; }

 private:
  struct Page {
    // The current device's number plus one; 0: none yet. Relaxed: read when the writer has ended.
    std::atomic<std::int32_t> device;
    std::atomic<std::uint32_t> client_bytes;
    char client[kClientWordsMax];
    std::atomic<std::uint32_t> end_taken;  // by the thread that says why
    std::atomic<std::uint32_t> end_bytes;
    char end[kEndWordsMax];
    SessionTally tally;
    struct Device {
      std::atomic<std::uint64_t> bytes;
      char pci[kAddressBytesMax];
      char architecture[kArchitectureBytesMax];
    };
    std::array<Device, protocol::kDevicesMax> devices;
  };
  struct Unmap {
    void operator()(Page* page) const;
  };
  static Result<LastWords> map(int file, int protection);

  std::unique_ptr<Page, Unmap> page_;
};

}  // namespace tf::worker
