// SPDX-License-Identifier: Apache-2.0
// DeviceReadings: a page that the supervisor shares with its SMI process. The supervisor writes down which
// devices there are; the process writes what a vendor's management library says of each. So the supervisor
// reads a number from memory and never waits for a driver.
//
// One writer and one reader for each part. A reading is whole or absent: a writer that is killed in the
// middle of one leaves none.
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "hipcore/smi/values.h"
#include "hipcore/wire/device_snapshot.h"
#include "transport/base/status.h"
#include "transport/net/fd.h"

namespace tf::worker {

// The page's descriptor number in the SMI process; the channel has kSessionChannelFd, as in sessions.
inline constexpr int kReadingsFd = 4;
inline constexpr std::chrono::seconds kReadingPeriod{1};   // between two readings of a device
inline constexpr std::chrono::seconds kReadingAgeMax{10};  // an older one is not shown
inline constexpr std::size_t kAddressBytesMax = 24;        // of PCI, with its end
inline constexpr std::size_t kArchitectureBytesMax = 104;  // with its end

// A device as management libraries know it.
struct WatchedDevice {
  std::string pci;           // "0000:03:00.0"; empty: it has none
  std::string architecture;  // "gfx942:sramecc+", "sm_90", "x86_64-cpu"
  bool operator==(const WatchedDevice&) const = default;
};

struct DeviceReading {
  tf::smi::Sample sample = tf::smi::unknown_sample();
  std::uint64_t fan_most = tf::smi::kUnknown;  // of sample.fan_level
};

class DeviceReadings {
 public:
  using Clock = std::chrono::steady_clock;

  // For the supervisor. At most kDevicesMax devices; texts are cut. `file`: what the process opens.
  static Result<DeviceReadings> make(std::span<const WatchedDevice> devices, net::OwnedFd& file);
  // For the SMI process.
  static Result<DeviceReadings> open(net::OwnedFd file);

  // An object of no page has no devices.
  std::vector<WatchedDevice> devices() const;

  // The last one of this device, unless it was made more than kReadingAgeMax before `now`. By
  // reading.sample.time_ns, of the steady clock.
  std::optional<DeviceReading> read(std::size_t device, Clock::time_point now) const;
  // REQUIRES: device < devices().size().
  void write(std::size_t device, const DeviceReading& reading);
  // The library has answered for every device, whatever it said. REQUIRES: a page.
  void note_round(Clock::time_point now);
  // Whether there was such a round less than `age` before `now`.
  bool had_round(Clock::time_point now, Clock::duration age) const;

 private:
  static constexpr std::size_t kWords = sizeof(DeviceReading) / sizeof(std::uint64_t);
  static_assert(sizeof(DeviceReading) % sizeof(std::uint64_t) == 0);
  struct Part {
    std::array<char, kAddressBytesMax> pci;
    std::array<char, kArchitectureBytesMax> architecture;
    std::atomic<std::uint64_t> version;  // 0: never written; odd: being written
    std::array<std::atomic<std::uint64_t>, kWords> words;
  };
  struct Page {
    std::uint64_t count;
    std::atomic<std::int64_t> round_ns;  // 0: none yet
    std::array<Part, protocol::kDevicesMax> parts;
  };
  struct Unmap {
    void operator()(Page* page) const;
  };
  static Result<DeviceReadings> map(int file);
  std::size_t count() const;

  std::unique_ptr<Page, Unmap> page_;
};

}  // namespace tf::worker
