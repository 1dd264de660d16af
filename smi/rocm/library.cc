// SPDX-License-Identifier: Apache-2.0
// The library itself: sessions, versions, texts of codes, and who uses the devices.
#include <algorithm>
#include <vector>

#include "smi/gen/rocm/custom.h"
#include "smi/rocm/layout.h"
#include "smi/rocm/support.h"

namespace tf::rsmi {

const char* version_text() { return kVersion.build; }

namespace custom {
namespace {

struct CodeText {
  rsmi_status_t code;
  const char* text;
};
constexpr CodeText kTexts[] = {
    {0, "success"},
    {1, "an argument is not valid"},
    {2, "not supported by this device, or not remotely"},
    {3, "a file cannot be read"},
    {4, "permission denied: a tenant of a worker may only read"},
    {5, "out of memory or of another resource"},
    {6, "an exception inside the library"},
    {7, "the input is out of range"},
    {8, "not initialized: there is no session with a worker"},
    {9, "not implemented yet"},
    {10, "not found"},
    {11, "the buffer is too small"},
    {12, "interrupted"},
    {13, "data of an unexpected size"},
    {14, "no data"},
    {15, "unexpected data"},
    {16, "busy"},
    {17, "too many references"},
    {18, "the setting is not available"},
    {19, "the driver could not be restarted"},
    {kUnknownError, "unknown error"},
};

// One for each session with memory of a device; kernels may run without.
rsmi_status_t list_sessions(std::vector<smi::Session>& sessions) {
  return code_of(smi::with_remote([&](smi::Remote& remote) {
    Result<std::vector<smi::Session>> found = remote.sessions();
    if (found) sessions = std::move(*found);
    return found.status();
  }));
}

std::uint64_t memory_of(const smi::Session& session) {
  std::uint64_t sum = 0;
  for (const std::uint64_t bytes : session.memory_bytes) sum += bytes;
  return sum;
}

rsmi_process_info_t info_of(const smi::Session& session, std::uint64_t bytes) {
  rsmi_process_info_t info{};
  info.process_id = static_cast<std::uint32_t>(session.client_pid);
  info.vram_usage = bytes;
  return info;
}

// A process may have several sessions, as one of each library; they count as one.
rsmi_status_t find_sessions(std::uint32_t pid, std::vector<smi::Session>& sessions) {
  const rsmi_status_t code = list_sessions(sessions);
  if (code != kSuccess) return code;
  std::erase_if(sessions, [&](const smi::Session& session) { return session.client_pid != pid; });
  return sessions.empty() ? rsmi_status_t{kNotFound} : code;
}

std::uint32_t device_count() {
  std::uint32_t count = 0;
  static_cast<void>(smi::with_remote([&](smi::Remote& remote) {
    count = static_cast<std::uint32_t>(remote.device_count());
    return Status::ok();
  }));
  return count;
}

}  // namespace

rsmi_status_t init(std::uint64_t) { return code_of(smi::init()) == kSuccess ? kSuccess : kInitError; }

rsmi_status_t shut_down() { return code_of(smi::shut_down()) == kSuccess ? kSuccess : kInitError; }

rsmi_status_t status_string(rsmi_status_t status, const char** status_string) {
  if (status_string == nullptr) return kInvalidArguments;
  const auto* const found =
      std::ranges::find_if(kTexts, [&](const CodeText& known) { return known.code == status; });
  *status_string = found != std::end(kTexts) ? found->text : "unknown error";
  return found != std::end(kTexts) ? kSuccess : kInvalidArguments;
}

rsmi_status_t version_get(rsmi_version_t* version) {
  if (version == nullptr) return kInvalidArguments;
  *version = kVersion;
  return kSuccess;
}

// The driver is the only component. rocm-smi asks before it initializes, which the vendor's library allows.
rsmi_status_t version_str_get(rsmi_sw_component_t component, char* ver_str, std::uint32_t len) {
  if (component != 0 || ver_str == nullptr) return kInvalidArguments;
  smi::Facts facts;
  rsmi_status_t code = read_facts(0, facts);
  if (code == kInitError && smi::init().is_ok()) {
    code = read_facts(0, facts);
    static_cast<void>(smi::shut_down());
  }
  if (code != kSuccess) return code;
  const std::string version = smi::text_of(facts.driver);
  return version.empty() ? rsmi_status_t{kNotSupported} : write_text(version, ver_str, len);
}

rsmi_status_t num_monitor_devices(std::uint32_t* num_devices) {
  if (num_devices == nullptr) return kInvalidArguments;
  return code_of(smi::with_remote([&](smi::Remote& remote) {
    *num_devices = static_cast<std::uint32_t>(remote.device_count());
    return Status::ok();
  }));
}

// Without a buffer: how many there are. A small buffer gets what fits.
rsmi_status_t compute_process_info_get(rsmi_process_info_t* procs, std::uint32_t* num_items) {
  if (num_items == nullptr) return kInvalidArguments;
  std::vector<smi::Session> sessions;
  if (const rsmi_status_t code = list_sessions(sessions); code != kSuccess) return code;
  std::vector<rsmi_process_info_t> all;
  for (const smi::Session& session : sessions) {
    const rsmi_process_info_t info = info_of(session, memory_of(session));
    const auto same = std::ranges::find(all, info.process_id, &rsmi_process_info_t::process_id);
    if (same == all.end())
      all.push_back(info);
    else
      same->vram_usage += info.vram_usage;
  }
  const auto count = static_cast<std::uint32_t>(all.size());
  if (procs == nullptr) {
    *num_items = count;
    return kSuccess;
  }
  const std::uint32_t room = *num_items;
  std::copy_n(all.begin(), std::min(count, room), procs);
  *num_items = std::min(count, room);
  return count <= room ? kSuccess : kInsufficientSize;
}

rsmi_status_t compute_process_info_by_pid_get(std::uint32_t pid, rsmi_process_info_t* proc) {
  if (proc == nullptr) return kInvalidArguments;
  std::vector<smi::Session> sessions;
  if (const rsmi_status_t code = find_sessions(pid, sessions); code != kSuccess) return code;
  std::uint64_t bytes = 0;
  for (const smi::Session& session : sessions) bytes += memory_of(session);
  *proc = info_of(sessions.front(), bytes);
  return kSuccess;
}

rsmi_status_t compute_process_info_by_device_get(std::uint32_t pid, std::uint32_t dv_ind,
                                                 rsmi_process_info_t* proc) {
  if (proc == nullptr || dv_ind >= device_count()) return kInvalidArguments;
  std::vector<smi::Session> sessions;
  if (const rsmi_status_t code = find_sessions(pid, sessions); code != kSuccess) return code;
  std::uint64_t bytes = 0;
  for (const smi::Session& session : sessions) bytes += session.memory_bytes[dv_ind];
  *proc = info_of(sessions.front(), bytes);
  return kSuccess;
}

rsmi_status_t compute_process_gpus_get(std::uint32_t pid, std::uint32_t* dv_indices,
                                       std::uint32_t* num_devices) {
  if (num_devices == nullptr) return kInvalidArguments;
  std::vector<smi::Session> sessions;
  if (const rsmi_status_t code = find_sessions(pid, sessions); code != kSuccess) return code;
  std::vector<std::uint32_t> devices;
  for (std::uint32_t device = 0; device < device_count(); ++device)
    if (std::ranges::any_of(sessions, [&](const smi::Session& one) { return one.memory_bytes[device] != 0; }))
      devices.push_back(device);
  const auto count = static_cast<std::uint32_t>(devices.size());
  if (dv_indices == nullptr) {
    *num_devices = count;
    return kSuccess;
  }
  const std::uint32_t room = *num_devices;
  std::copy_n(devices.begin(), std::min(count, room), dv_indices);
  *num_devices = count;
  return count <= room ? kSuccess : kInsufficientSize;
}

}  // namespace custom
}  // namespace tf::rsmi
