// SPDX-License-Identifier: Apache-2.0
// Makes and maps the page of LastWords, and reads it as untrusted bytes.
#include "worker/base/last_words.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "transport/base/peers_words.h"

namespace tf::worker {

void LastWords::Unmap::operator()(Page* page) const { ::munmap(page, sizeof *page); }

Result<LastWords> LastWords::map(int file, int protection) {
  void* const mapped = ::mmap(nullptr, sizeof(Page), protection, MAP_SHARED, file, 0);
  if (mapped == MAP_FAILED) return Status::from_errno("mmap", errno);
  LastWords words;
  words.page_.reset(static_cast<Page*>(mapped));
  return words;
}

// Sealed: a file that the process shortened would kill its reader.
Result<LastWords> LastWords::make(net::OwnedFd& file) {
  file = net::OwnedFd(::memfd_create("hip-remote-last-words", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  if (!file) return Status::from_errno("memfd_create", errno);
  const bool ready = ::ftruncate(file.get(), sizeof(Page)) == 0 &&
                     ::fcntl(file.get(), F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) == 0;
  if (!ready) return Status::from_errno("a page of shared memory", errno);
  return map(file.get(), PROT_READ);
}

Result<LastWords> LastWords::open(net::OwnedFd file) { return map(file.get(), PROT_READ | PROT_WRITE); }

std::string LastWords::read(std::span<const int> shown) const {
  if (page_ == nullptr) return {};
  const std::size_t bytes =
      std::min<std::size_t>(page_->client_bytes.load(std::memory_order_relaxed), kClientWordsMax);
  if (bytes == 0) return {};
  const std::string client(page_->client, bytes);
  const std::int32_t device = page_->device.load(std::memory_order_relaxed);
  if (device <= 0) return client;
  const auto ordinal = static_cast<std::size_t>(device) - 1;
  return fmt::format("{}, device {}", client, ordinal < shown.size() ? shown[ordinal] : device - 1);
}

std::string LastWords::read_end() const {
  if (page_ == nullptr) return {};
  return {page_->end, std::min<std::size_t>(page_->end_bytes.load(std::memory_order_relaxed), kEndWordsMax)};
}

FoundDevice LastWords::device(std::size_t ordinal) const {
  if (page_ == nullptr || ordinal >= page_->devices.size()) return {};
  const Page::Device& found = page_->devices[ordinal];
  return {found.bytes.load(std::memory_order_relaxed),
          {peers_words(found.pci), peers_words(found.architecture)}};
}

void LastWords::show_devices(std::span<const FoundDevice> devices) {
  if (page_ == nullptr) return;
  for (std::size_t ordinal = 0; ordinal < std::min(devices.size(), page_->devices.size()); ++ordinal) {
    Page::Device& shown = page_->devices[ordinal];
    const FoundDevice& found = devices[ordinal];
    shown.bytes.store(found.bytes, std::memory_order_relaxed);
    std::memcpy(shown.pci, found.name.pci.data(), std::min(found.name.pci.size(), sizeof shown.pci - 1));
    std::memcpy(shown.architecture, found.name.architecture.data(),
                std::min(found.name.architecture.size(), sizeof shown.architecture - 1));
  }
}

void LastWords::end(std::string_view why) {
  if (page_ == nullptr || page_->end_taken.exchange(1, std::memory_order_relaxed) != 0) return;
  const std::string_view kept = why.substr(0, kEndWordsMax);
  std::memcpy(page_->end, kept.data(), kept.size());
  page_->end_bytes.store(static_cast<std::uint32_t>(kept.size()), std::memory_order_relaxed);
}

void LastWords::serve(std::string_view client) {
  if (page_ == nullptr) return;
  const std::string_view kept = client.substr(0, kClientWordsMax);
  std::memcpy(page_->client, kept.data(), kept.size());
  page_->client_bytes.store(static_cast<std::uint32_t>(kept.size()), std::memory_order_relaxed);
}

}  // namespace tf::worker
