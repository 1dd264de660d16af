// SPDX-License-Identifier: Apache-2.0
// Sockets and processors: one of each for each device of the session, in the order of HIP.
#include <cstdio>
#include <string>

#include "smi/amd/support.h"
#include "smi/gen/amd/custom.h"
#include "smi/vendor/links.h"

namespace tf::amdsmi {
namespace {

char processors[kHandles];
char sockets[kHandles];

int place_in(const char (&all)[kHandles], const void* handle) {
  const auto at = reinterpret_cast<std::uintptr_t>(handle);
  const auto first = reinterpret_cast<std::uintptr_t>(&all[0]);
  return at >= first && at - first < kHandles ? static_cast<int>(at - first) : -1;
}

// "0000:03:00"
std::string address_of(const smi::Facts& facts) {
  char text[40];
  std::snprintf(text, sizeof text, "%04llx:%02llx:%02llx", static_cast<unsigned long long>(facts.pci_domain),
                static_cast<unsigned long long>(facts.pci_bus & 0xff),
                static_cast<unsigned long long>(facts.pci_device & 0x1f));
  return text;
}

// Null asks how many there are; otherwise as many as fit.
template <typename HandleOf>
amdsmi_status_t list(HandleOf handle_of_device, std::uint32_t first, std::uint32_t there,
                     std::uint32_t* count, void** handles) {
  if (handles != nullptr) {
    there = there < *count ? there : *count;
    for (std::uint32_t each = 0; each < there; ++each)
      handles[each] = handle_of_device(static_cast<int>(first + each));
  }
  *count = there;
  return kSuccess;
}

amdsmi_status_t check_socket(amdsmi_socket_handle socket, int& device) {
  std::uint32_t count = 0;
  if (const amdsmi_status_t code = Answers::count_devices(count); code != kSuccess) return code;
  if (socket == nullptr) return kInvalidArguments;
  device = device_of_socket(socket);
  return device >= 0 && static_cast<std::uint32_t>(device) < count ? kSuccess : kNotFound;
}

}  // namespace

amdsmi_processor_handle handle_of(int device) { return &processors[device]; }
int device_of(amdsmi_processor_handle handle) { return place_in(processors, handle); }
amdsmi_socket_handle socket_of(int device) { return &sockets[device]; }
int device_of_socket(amdsmi_socket_handle handle) { return place_in(sockets, handle); }

namespace custom {

amdsmi_status_t get_socket_handles(std::uint32_t* socket_count, amdsmi_socket_handle* socket_handles) {
  std::uint32_t there = 0;
  if (const amdsmi_status_t code = Answers::count_devices(there); code != kSuccess) return code;
  if (socket_count == nullptr) return kInvalidArguments;
  return list(socket_of, 0, there, socket_count, socket_handles);
}

amdsmi_status_t get_socket_info(amdsmi_socket_handle socket_handle, std::size_t len, char* name) {
  int device = 0;
  if (const amdsmi_status_t code = check_socket(socket_handle, device); code != kSuccess) return code;
  return get_processor_info(handle_of(device), len, name);
}

amdsmi_status_t get_processor_handles(amdsmi_socket_handle socket_handle, std::uint32_t* processor_count,
                                      amdsmi_processor_handle* processor_handles) {
  return get_processor_handles_by_type(socket_handle, kGpuProcessor, processor_handles, processor_count);
}

amdsmi_status_t get_processor_handles_by_type(amdsmi_socket_handle socket_handle,
                                              std::uint32_t processor_type,
                                              amdsmi_processor_handle* processor_handles,
                                              std::uint32_t* processor_count) {
  int device = 0;
  if (const amdsmi_status_t code = check_socket(socket_handle, device); code != kSuccess) return code;
  if (processor_count == nullptr) return kInvalidArguments;
  const std::uint32_t there = processor_type == kGpuProcessor ? 1 : 0;
  return list(handle_of, static_cast<std::uint32_t>(device), there, processor_count, processor_handles);
}

amdsmi_status_t get_processor_type(amdsmi_processor_handle device, std::uint32_t* processor_type) {
  if (const amdsmi_status_t code = Answers::check(device); code != kSuccess) return code;
  return Answers::answer(kGpuProcessor, processor_type);
}

amdsmi_status_t get_processor_info(amdsmi_processor_handle device, std::size_t len, char* name) {
  smi::Facts facts;
  if (const amdsmi_status_t code = Answers::read_facts(device, facts); code != kSuccess) return code;
  return smi::is_known(facts.pci_bus) ? Answers::write_text(address_of(facts), name, len)
                                      : amdsmi_status_t{kNotSupported};
}

amdsmi_status_t get_processor_count_from_handles(amdsmi_processor_handle* devices,
                                                 std::uint32_t* processor_count, std::uint32_t* nr_cpusockets,
                                                 std::uint32_t* nr_cpucores, std::uint32_t* nr_gpus) {
  std::uint32_t there = 0;
  if (const amdsmi_status_t code = Answers::count_devices(there); code != kSuccess) return code;
  if (devices == nullptr || processor_count == nullptr || nr_cpusockets == nullptr ||
      nr_cpucores == nullptr || nr_gpus == nullptr)
    return kInvalidArguments;
  for (std::uint32_t each = 0; each < *processor_count; ++each)
    if (const amdsmi_status_t code = Answers::check(devices[each]); code != kSuccess) return code;
  *nr_cpusockets = *nr_cpucores = 0;
  *nr_gpus = *processor_count;
  return kSuccess;
}

amdsmi_status_t get_processor_handle_from_bdf(amdsmi_bdf_t bdf, amdsmi_processor_handle* processor_handle) {
  std::uint32_t there = 0;
  if (const amdsmi_status_t code = Answers::count_devices(there); code != kSuccess) return code;
  if (processor_handle == nullptr) return kInvalidArguments;
  for (int device = 0; static_cast<std::uint32_t>(device) < there; ++device) {
    amdsmi_bdf_t known{};
    const amdsmi_status_t code = get_gpu_device_bdf(handle_of(device), &known);
    if (code != kSuccess && code != kNotSupported) return code;
    if (code != kSuccess || known.as_uint != bdf.as_uint) continue;
    *processor_handle = handle_of(device);
    return kSuccess;
  }
  return kNotFound;
}

}  // namespace custom
}  // namespace tf::amdsmi
