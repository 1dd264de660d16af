// SPDX-License-Identifier: Apache-2.0
// Reads and writes IPC handles, and keeps their keys.
#include "proxy/memory/shared_memory.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <iterator>
#include <type_traits>

#include "hipcore/wire/device_snapshot.h"
#include "proxy/base/handles.h"
#include "transport/base/mutex.h"
#include "transport/net/attach.h"

namespace tf::proxy {
namespace {

constexpr std::array<char, 8> kHandleMagic = {'H', 'I', 'P', 'R', 'I', 'P', 'C', '1'};
constexpr std::array<char, 8> kEventMagic = {'H', 'I', 'P', 'R', 'E', 'V', 'T', '1'};
constexpr std::array<char, 8> kPoolMagic = {'H', 'I', 'P', 'R', 'P', 'O', 'L', '1'};
constexpr std::array<char, 8> kTokenMagic = {'H', 'I', 'P', 'R', 'M', 'E', 'M', '1'};

// The layout of both; the same program may run on another host than its partner.
struct Wire {
  std::array<char, 8> magic{};
  SharedKey key;
  std::uint64_t offset = 0;
};
static_assert(sizeof(Wire) == 32 && sizeof(Wire) <= sizeof(hipIpcMemHandle_t) &&
              std::is_trivially_copyable_v<Wire>);

}  // namespace

hipIpcMemHandle_t write_handle(const MemoryTicket& ticket) {
  const Wire wire{kHandleMagic, ticket.key, ticket.offset};
  hipIpcMemHandle_t handle{};
  std::memcpy(handle.reserved, &wire, sizeof wire);
  return handle;
}

std::optional<MemoryTicket> read_handle(const hipIpcMemHandle_t& handle) {
  Wire wire;
  std::memcpy(&wire, handle.reserved, sizeof wire);
  if (wire.magic != kHandleMagic) return std::nullopt;
  return MemoryTicket{wire.key, wire.offset};
}

hipIpcEventHandle_t write_event_handle(const SharedKey& key) {
  const Wire wire{kEventMagic, key, 0};
  hipIpcEventHandle_t handle{};
  std::memcpy(handle.reserved, &wire, sizeof wire);
  return handle;
}

std::optional<SharedKey> read_event_handle(const hipIpcEventHandle_t& handle) {
  Wire wire;
  std::memcpy(&wire, handle.reserved, sizeof wire);
  return wire.magic == kEventMagic ? std::optional(wire.key) : std::nullopt;
}

namespace {

net::OwnedFd make_file(const Wire& wire) {
  net::OwnedFd file(::memfd_create("hip-remote-memory", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  constexpr int kSeals = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE | F_SEAL_SEAL;
  bool made = file && ::pwrite(file.get(), &wire, sizeof wire, 0) == static_cast<ssize_t>(sizeof wire) &&
              ::fcntl(file.get(), F_ADD_SEALS, kSeals) == 0;
  return made ? std::move(file) : net::OwnedFd();
}

std::optional<Wire> read_file(int descriptor, const std::array<char, 8>& magic) {
  Wire wire;
  if (::pread(descriptor, &wire, sizeof wire, 0) != static_cast<ssize_t>(sizeof wire)) return std::nullopt;
  return wire.magic == magic ? std::optional(wire) : std::nullopt;
}

}  // namespace

net::OwnedFd make_token_file(const SharedKey& key) { return make_file({kTokenMagic, key, 0}); }

std::optional<SharedKey> read_token_file(int descriptor) {
  const auto wire = read_file(descriptor, kTokenMagic);
  return wire ? std::optional(wire->key) : std::nullopt;
}

net::OwnedFd make_pool_file(int worker_device) {
  return make_file({kPoolMagic, {}, static_cast<std::uint64_t>(worker_device)});
}

std::optional<int> read_pool_file(int descriptor) {
  const auto wire = read_file(descriptor, kPoolMagic);
  if (!wire || wire->offset > protocol::kDevicesMax) return std::nullopt;
  return static_cast<int>(wire->offset);
}

void SharedMemory::shared(std::uint64_t base, const SharedKey& key) {
  const MutexLock lock(mutex_);
  any_.store(true, std::memory_order_relaxed);
  keys_[base] = key;
}

std::optional<SharedKey> SharedMemory::key_of(std::uint64_t base) const {
  const MutexLock lock(mutex_);
  auto found = keys_.find(base);
  return found == keys_.end() ? std::nullopt : std::optional(found->second);
}

std::optional<SharedKey> SharedMemory::name_privately(std::uint64_t base) {
  const MutexLock lock(order_);
  if (auto known = key_of(base)) return known;
  Result<net::Token> random = net::Token::random();
  if (!random) return std::nullopt;
  SharedKey key;
  static_assert(sizeof key == sizeof random->bytes);
  std::memcpy(&key, random->bytes.data(), sizeof key);
  shared(base, key);
  return key;
}

bool SharedMemory::is_ours(const SharedKey& key) const {
  const MutexLock lock(mutex_);
  return std::any_of(keys_.begin(), keys_.end(), [&](const auto& entry) { return entry.second == key; });
}

std::optional<SharedKey> SharedMemory::freed(std::uint64_t base) {
  if (!any_.load(std::memory_order_relaxed)) return std::nullopt;
  const MutexLock lock(mutex_);
  auto found = keys_.find(base);
  if (found == keys_.end()) return std::nullopt;
  SharedKey key = found->second;
  keys_.erase(found);
  return key;
}

void SharedMemory::opened(std::uint64_t base, std::uint64_t bytes, const MemoryTicket& ticket, Way way) {
  const MutexLock lock(mutex_);
  any_opened_.store(true, std::memory_order_relaxed);
  opened_[base] = {bytes, ticket, way};
}

std::optional<std::uint64_t> SharedMemory::open_again(const MemoryTicket& ticket) {
  if (!any_opened_.load(std::memory_order_relaxed)) return std::nullopt;
  const MutexLock lock(mutex_);
  const auto found = std::find_if(opened_.begin(), opened_.end(), [&](const auto& entry) {
    return entry.second.way == Way::kIpc && entry.second.ticket.key == ticket.key;
  });
  if (found == opened_.end() || ticket.offset >= found->second.bytes) return std::nullopt;
  ++found->second.openings;
  return found->first;
}

std::optional<SharedMemory::Closed> SharedMemory::close(std::uint64_t address, Way way) {
  if (!any_opened_.load(std::memory_order_relaxed)) return std::nullopt;
  const MutexLock lock(mutex_);
  auto found = opened_.upper_bound(address);
  if (found == opened_.begin()) return std::nullopt;
  --found;
  const std::uint64_t base = found->first;
  Opened& opened = found->second;
  if (address - base >= opened.bytes || opened.way != way) return std::nullopt;
  if (way == Way::kPool && address - base != opened.ticket.offset) return std::nullopt;
  if (--opened.openings != 0) return Closed{base, false};
  opened_.erase(found);
  return Closed{base, true};
}

}  // namespace tf::proxy
