// SPDX-License-Identifier: Apache-2.0
// IPC handles of memory inside an allocation.
#include "worker/runtime/cuda/ipc_inside.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cstring>
#include <string>
#include <unordered_map>

#include "transport/base/mutex.h"

namespace tf::cuda {
namespace {

constexpr char kFileName[] = "hip-cuda-ipc";
constexpr std::array<char, 16> kMagic = {'H', 'I', 'P', '-', 'C', 'U', 'D', 'A',
                                         ' ', 'i', 'n', 's', 'i', 'd', 'e', '1'};
constexpr std::size_t kRecordsMax = 1 << 20;

struct Ticket {
  std::array<char, 16> magic{};
  std::int32_t process = 0;
  std::int32_t descriptor = -1;
  std::uint64_t file = 0;  // its inode: unlike the descriptor number it is not reused
  std::uint64_t record = 0;
};
static_assert(sizeof(Ticket) <= sizeof(hipIpcMemHandle_t));

struct Record {
  driver::IpcMemoryHandle whole{};
  std::uint64_t offset = 0;
};

std::string bytes_of(const Record& record) {
  return std::string(reinterpret_cast<const char*>(&record), sizeof record);
}

// What this process has handed out, for ever.
struct Records {
  Mutex mutex;
  int descriptor TF_GUARDED_BY(mutex) = -1;
  std::uint64_t file TF_GUARDED_BY(mutex) = 0;
  std::unordered_map<std::string, std::uint64_t> numbers TF_GUARDED_BY(mutex);  // by the bytes of the record
};

Records& records() {
  static Records* const all = new Records;
  return *all;
}

bool open_file(Records& all) TF_REQUIRES(all.mutex) {
  if (all.descriptor >= 0) return true;
  const int descriptor = ::memfd_create(kFileName, MFD_CLOEXEC);
  struct stat status = {};
  if (descriptor < 0 || ::fstat(descriptor, &status) != 0) return false;
  all.descriptor = descriptor;
  all.file = status.st_ino;
  return true;
}

Ticket ticket_in(const hipIpcMemHandle_t& handle) {
  Ticket ticket;
  std::memcpy(static_cast<void*>(&ticket), &handle, sizeof ticket);
  return ticket;
}

// Nothing but such files is ever opened: opening other things can have effects.
int open_theirs(const Ticket& ticket) {
  const std::string path =
      "/proc/" + std::to_string(ticket.process) + "/fd/" + std::to_string(ticket.descriptor);
  std::array<char, 64> name{};
  const ssize_t length = ::readlink(path.c_str(), name.data(), name.size() - 1);
  if (length <= 0 || std::string(name.data()).rfind(std::string("/memfd:") + kFileName, 0) != 0) return -1;
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  struct stat status = {};
  if (descriptor < 0 || (::fstat(descriptor, &status) == 0 && status.st_ino == ticket.file))
    return descriptor;
  ::close(descriptor);
  return -1;
}

}  // namespace

hipError_t make_inside_handle(const driver::IpcMemoryHandle& whole, std::uint64_t offset,
                              hipIpcMemHandle_t& handle) {
  Records& all = records();
  const MutexLock lock(all.mutex);
  if (!open_file(all)) return hipErrorOutOfMemory;
  const Record wanted{whole, offset};
  const std::string bytes = bytes_of(wanted);
  auto known = all.numbers.find(bytes);
  if (known == all.numbers.end()) {
    const std::size_t number = all.numbers.size();
    if (number >= kRecordsMax) return hipErrorOutOfMemory;
    const auto place = static_cast<off_t>(number * sizeof wanted);
    if (::pwrite(all.descriptor, &wanted, sizeof wanted, place) != static_cast<ssize_t>(sizeof wanted))
      return hipErrorOutOfMemory;
    known = all.numbers.emplace(bytes, number).first;
  }
  const Ticket ticket{kMagic, ::getpid(), all.descriptor, all.file, known->second};
  std::memset(&handle, 0, sizeof handle);
  std::memcpy(&handle, &ticket, sizeof ticket);
  return hipSuccess;
}

bool is_inside_handle(const hipIpcMemHandle_t& handle) { return ticket_in(handle).magic == kMagic; }

hipError_t read_inside_handle(const hipIpcMemHandle_t& handle, driver::IpcMemoryHandle& whole,
                              std::uint64_t& offset) {
  const Ticket ticket = ticket_in(handle);
  if (ticket.process == ::getpid()) return hipErrorInvalidContext;
  if (ticket.record >= kRecordsMax) return hipErrorInvalidValue;
  const int descriptor = open_theirs(ticket);
  if (descriptor < 0) return hipErrorInvalidDevicePointer;
  Record record;
  const auto place = static_cast<off_t>(ticket.record * sizeof record);
  const ssize_t got = ::pread(descriptor, &record, sizeof record, place);
  ::close(descriptor);
  if (got != static_cast<ssize_t>(sizeof record)) return hipErrorInvalidDevicePointer;
  whole = record.whole;
  offset = record.offset;
  return hipSuccess;
}

}  // namespace tf::cuda
