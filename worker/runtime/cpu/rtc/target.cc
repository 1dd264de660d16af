// SPDX-License-Identifier: Apache-2.0
// Decides whether this host or the worker compiles a program.
#include "worker/runtime/cpu/rtc/target.h"

namespace tf::cpu::rtc {
namespace {

constexpr std::string_view kCores = "x86_64-cpu";
constexpr std::string_view kArchitectures[] = {
    "--offload-arch=", "--gpu-architecture=", "--cuda-gpu-arch=", "-arch="};

bool is_nvidia(std::string_view architecture) {
  return architecture.starts_with("sm_") || architecture.starts_with("compute_");
}

}  // namespace

bool is_for_worker(const std::vector<std::string>& options, std::string_view device) {
  std::string_view target = device;
  for (const std::string_view option : options) {
    for (const std::string_view start : kArchitectures) {
      if (!option.starts_with(start)) continue;
      const std::string_view named = option.substr(start.size());
      if (named == kCores || is_nvidia(named)) target = named;
    }
  }
  return target != kCores;
}

}  // namespace tf::cpu::rtc
