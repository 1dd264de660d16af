// SPDX-License-Identifier: Apache-2.0
// TF_SMI_RUNTIME.
#include "smi/runtime/amd.h"
#include "smi/runtime/host.h"
#include "smi/runtime/nvidia.h"
#include "smi/runtime/runtime.h"

namespace tf::smi {
namespace {

std::string_view natural(const Target& target) {
  if (target.architecture.starts_with("gfx")) return "amd";
  return target.architecture.starts_with("sm_") ? "nvidia" : "host";
}

}  // namespace

Result<std::unique_ptr<Runtime>> open_runtime(std::string_view choice, const Target& target) {
  const std::string_view chosen = choice == "auto" ? natural(target) : choice;
  if (chosen == "amd") return AmdRuntime::open();
  if (chosen == "nvidia") return NvidiaRuntime::open();
  if (chosen == "host") return std::unique_ptr<Runtime>(std::make_unique<HostRuntime>());
  return Status(Code::kInvalidArgument,
                "TF_SMI_RUNTIME=" + std::string(choice) + ": expected auto, amd, nvidia or host");
}

}  // namespace tf::smi
