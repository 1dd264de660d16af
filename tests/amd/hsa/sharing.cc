// SPDX-License-Identifier: Apache-2.0
#include "tests/amd/hsa/sharing.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstring>

#include "tests/amd/hsa/report.h"
#include "tests/amd/hsa/runtime.h"

namespace tf::amd::hsa {
namespace {

constexpr std::uint16_t kMagic = 0x5a1d;

struct Content {
  std::uint16_t magic = kMagic;
  std::uint16_t owner = 0;
  std::int32_t process = 0;
  std::int32_t descriptor = -1;
  std::uint32_t inner = 0;
  std::uint64_t offset = 0;
  std::uint64_t bytes = 0;
};
static_assert(sizeof(Content) == sizeof(hsa_amd_ipc_memory_t));

}  // namespace

hsa_amd_ipc_memory_t shared_handle(const Place& place, unsigned owner, std::uint32_t inner) {
  Content content;
  content.owner = static_cast<std::uint16_t>(owner);
  content.process = getpid();
  content.descriptor = place.descriptor;
  content.inner = inner;
  content.offset = place.offset;
  content.bytes = place.bytes;
  hsa_amd_ipc_memory_t handle{};
  std::memcpy(&handle, &content, sizeof handle);
  return handle;
}

std::optional<Attached> attach_shared(Runtime& runtime, const hsa_amd_ipc_memory_t& handle,
                                      AgentMask agents) {
  Content content;
  std::memcpy(static_cast<void*>(&content), &handle, sizeof content);
  if (content.magic != kMagic || content.bytes == 0) return std::nullopt;
  const std::string path =
      "/proc/" + std::to_string(content.process) + "/fd/" + std::to_string(content.descriptor);
  const int descriptor = open(path.c_str(), O_RDWR | O_CLOEXEC);
  if (descriptor < 0) {
    report("memory of process " + std::to_string(content.process) +
           " is not to be had: " + std::strerror(errno));
    return std::nullopt;
  }
  struct stat file {};
  const bool inside = fstat(descriptor, &file) == 0 &&
                      content.offset <= static_cast<std::uint64_t>(file.st_size) &&
                      content.bytes <= static_cast<std::uint64_t>(file.st_size) - content.offset;
  const unsigned owner = content.owner < runtime.agents.size() ? content.owner : 0;
  void* base = nullptr;
  if (inside)
    base =
        runtime.memory.attach({descriptor, content.offset, content.bytes}, owner, agents | agent_bit(owner));
  close(descriptor);
  if (base == nullptr) return std::nullopt;
  return Attached{static_cast<char*>(base), content.bytes, content.inner};
}

}  // namespace tf::amd::hsa
