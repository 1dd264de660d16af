// SPDX-License-Identifier: Apache-2.0
// Makes and maps the page of readings.
#include "worker/base/device_readings.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <type_traits>

namespace tf::worker {
namespace {

std::int64_t in_ns(DeviceReadings::Clock::duration time) {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(time).count();
}

constexpr int kReadTries = 4;  // a writer is done in less than a microsecond, and begins once a second

template <std::size_t Bytes>
void put(std::array<char, Bytes>& to, const std::string& text) {
  to.fill('\0');
  std::memcpy(to.data(), text.data(), std::min(text.size(), Bytes - 1));
}

template <std::size_t Bytes>
std::string text_of(const std::array<char, Bytes>& from) {
  return {from.data(), ::strnlen(from.data(), Bytes)};
}

}  // namespace

static_assert(std::is_trivially_copyable_v<DeviceReading>, "it is copied word by word");

void DeviceReadings::Unmap::operator()(Page* page) const { ::munmap(page, sizeof *page); }

Result<DeviceReadings> DeviceReadings::map(int file) {
  void* const mapped = ::mmap(nullptr, sizeof(Page), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  if (mapped == MAP_FAILED) return Status::from_errno("mmap", errno);
  DeviceReadings readings;
  readings.page_.reset(static_cast<Page*>(mapped));
  return readings;
}

// Sealed: a file that the process shortened would kill its reader.
Result<DeviceReadings> DeviceReadings::make(std::span<const WatchedDevice> devices, net::OwnedFd& file) {
  file = net::OwnedFd(::memfd_create("hip-remote-readings", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  if (!file) return Status::from_errno("memfd_create", errno);
  const bool ready = ::ftruncate(file.get(), sizeof(Page)) == 0 &&
                     ::fcntl(file.get(), F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) == 0;
  if (!ready) return Status::from_errno("a page of shared memory", errno);
  Result<DeviceReadings> readings = map(file.get());
  if (!readings) return readings;
  Page& page = *readings->page_;
  page.count = std::min(devices.size(), page.parts.size());
  for (std::size_t device = 0; device < page.count; ++device) {
    put(page.parts[device].pci, devices[device].pci);
    put(page.parts[device].architecture, devices[device].architecture);
  }
  return readings;
}

Result<DeviceReadings> DeviceReadings::open(net::OwnedFd file) {
  struct stat facts {};
  if (::fstat(file.get(), &facts) != 0) return Status::from_errno("the page of readings", errno);
  if (facts.st_size != static_cast<off_t>(sizeof(Page)))
    return Status(Code::kProtocol, "the page of readings has another size");
  return map(file.get());
}

std::size_t DeviceReadings::count() const {
  return page_ == nullptr ? 0 : std::min<std::size_t>(page_->count, page_->parts.size());
}

std::vector<WatchedDevice> DeviceReadings::devices() const {
  std::vector<WatchedDevice> found;
  for (std::size_t device = 0; device < count(); ++device)
    found.push_back({text_of(page_->parts[device].pci), text_of(page_->parts[device].architecture)});
  return found;
}

// Words are stored with release and loaded with acquire. So whoever sees a new word sees the odd version
// before it, too.
void DeviceReadings::write(std::size_t device, const DeviceReading& reading) {
  std::array<std::uint64_t, kWords> words;
  std::memcpy(words.data(), &reading, sizeof reading);
  Part& part = page_->parts[device];
  const std::uint64_t version = part.version.load(std::memory_order_relaxed) & ~std::uint64_t{1};
  part.version.store(version + 1, std::memory_order_relaxed);
  for (std::size_t word = 0; word < kWords; ++word)
    part.words[word].store(words[word], std::memory_order_release);
  part.version.store(version + 2, std::memory_order_release);
}

void DeviceReadings::note_round(Clock::time_point now) {
  page_->round_ns.store(in_ns(now.time_since_epoch()), std::memory_order_relaxed);
}

bool DeviceReadings::had_round(Clock::time_point now, Clock::duration age) const {
  const std::int64_t last = page_ != nullptr ? page_->round_ns.load(std::memory_order_relaxed) : 0;
  return last != 0 && last > in_ns(now.time_since_epoch()) - in_ns(age);
}

std::optional<DeviceReading> DeviceReadings::read(std::size_t device, Clock::time_point now) const {
  if (device >= count()) return std::nullopt;
  const Part& part = page_->parts[device];
  std::array<std::uint64_t, kWords> words;
  bool whole = false;
  for (int attempt = 0; attempt < kReadTries && !whole; ++attempt) {
    const std::uint64_t before = part.version.load(std::memory_order_acquire);
    for (std::size_t word = 0; word < kWords; ++word)
      words[word] = part.words[word].load(std::memory_order_acquire);
    whole = before != 0 && before % 2 == 0 && part.version.load(std::memory_order_relaxed) == before;
  }
  if (!whole) return std::nullopt;
  DeviceReading reading;
  std::memcpy(static_cast<void*>(&reading), words.data(), sizeof reading);
  const bool fresh =
      tf::smi::as_signed(reading.sample.time_ns) >= in_ns(now.time_since_epoch()) - in_ns(kReadingAgeMax);
  return fresh ? std::optional(reading) : std::nullopt;
}

}  // namespace tf::worker
