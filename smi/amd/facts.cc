// SPDX-License-Identifier: Apache-2.0
// What a device is.
#include <cstdio>

#include "smi/amd/layout.h"
#include "smi/amd/support.h"
#include "smi/gen/amd/custom.h"

namespace tf::amdsmi::custom {
namespace {

constexpr std::size_t kUuidBytes = 38;  // AMDSMI_GPU_UUID_SIZE

template <typename Info>
amdsmi_status_t describe(amdsmi_processor_handle device, Info* info,
                         void (*write)(Info&, const smi::Facts&)) {
  smi::Facts facts;
  if (const amdsmi_status_t code = Answers::read_facts(device, facts); code != kSuccess) return code;
  if (info == nullptr) return kInvalidArguments;
  write(*info, facts);
  return kSuccess;
}

// The library's own form: of the unique number its upper byte, "ff" for a whole device, the kind of device,
// version 1, variant 2, and the rest of the number.
std::string uuid_of(const smi::Facts& facts) {
  char text[48];
  const auto id = static_cast<unsigned long long>(facts.unique_id);
  const unsigned kind = smi::is_known(facts.device_id) ? static_cast<unsigned>(facts.device_id & 0xffff) : 0;
  std::snprintf(text, sizeof text, "%02llxff%04x-0000-1000-80%02llx-%012llx", id >> 56, kind, id >> 48 & 0xff,
                id & 0xffffffffffff);
  return text;
}

}  // namespace

amdsmi_status_t get_gpu_asic_info(amdsmi_processor_handle device, amdsmi_asic_info_t* info) {
  return describe(device, info, write_asic);
}

amdsmi_status_t get_gpu_board_info(amdsmi_processor_handle device, amdsmi_board_info_t* info) {
  return describe(device, info, write_board);
}

amdsmi_status_t get_gpu_driver_info(amdsmi_processor_handle device, amdsmi_driver_info_t* info) {
  return describe(device, info, write_driver);
}

amdsmi_status_t get_gpu_vbios_info(amdsmi_processor_handle device, amdsmi_vbios_info_t* info) {
  return describe(device, info, write_vbios);
}

amdsmi_status_t get_gpu_vram_info(amdsmi_processor_handle device, amdsmi_vram_info_t* info) {
  return describe(device, info, write_vram);
}

// Versions are not carried. AMD's library answers with a list, which may be empty, and amd-smi expects one
// (firmware --csv). The length stands in front.
amdsmi_status_t get_fw_info(amdsmi_processor_handle device, void* info) {
  if (const amdsmi_status_t code = Answers::check(device); code != kSuccess) return code;
  if (info == nullptr) return kInvalidArguments;
  *static_cast<std::uint8_t*>(info) = 0;
  return kSuccess;
}

amdsmi_status_t get_gpu_enumeration_info(amdsmi_processor_handle device, amdsmi_enumeration_info_t* info) {
  smi::Facts facts;
  if (const amdsmi_status_t code = Answers::read_facts(device, facts); code != kSuccess) return code;
  if (info == nullptr) return kInvalidArguments;
  write_enumeration(*info, facts, static_cast<std::uint32_t>(device_of(device)));
  return kSuccess;
}

// Devices of other hosts have no KFD here. What a session sees is a device of its own: the first partition of
// it.
amdsmi_status_t get_gpu_kfd_info(amdsmi_processor_handle device, amdsmi_kfd_info_t* info) {
  if (const amdsmi_status_t code = Answers::check(device); code != kSuccess) return code;
  if (info == nullptr) return kInvalidArguments;
  *info = {smi::kUnknown, 0xffffffff, 0};
  return kSuccess;
}

amdsmi_status_t get_gpu_device_uuid(amdsmi_processor_handle device, std::uint32_t* uuid_length, char* uuid) {
  smi::Facts facts;
  if (const amdsmi_status_t code = Answers::read_facts(device, facts); code != kSuccess) return code;
  if (uuid_length == nullptr || uuid == nullptr || *uuid_length < kUuidBytes) return kInvalidArguments;
  if (!smi::is_known(facts.unique_id)) return kNotSupported;
  return Answers::write_text(uuid_of(facts), uuid, *uuid_length);
}

}  // namespace tf::amdsmi::custom
