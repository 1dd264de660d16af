// SPDX-License-Identifier: Apache-2.0
// Runtime: where the worker's SMI values come from: a vendor's management library, or the host. Each is
// loaded with dlopen when a session first asks. Belongs to the executor thread.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "hipcore/smi/values.h"
#include "transport/base/status.h"

namespace tf::smi {

// A device as HIP names it.
struct Target {
  std::string pci;           // "0000:03:00.0"
  std::string architecture;  // "gfx942:sramecc+", "sm_90", "x86_64-cpu"
};

class Runtime {
 public:
  virtual ~Runtime() = default;

  virtual std::string_view name() const = 0;  // as TF_SMI_RUNTIME has it
  // Sets what it knows; the rest stays. A failure says why nothing is known.
  virtual Status describe(const Target& target, Facts& facts) = 0;
  virtual Status sample(const Target& target, Sample& sample) = 0;
};

// `choice`: auto, amd, nvidia or host. auto: by the device's architecture. The Status says what was tried.
Result<std::unique_ptr<Runtime>> open_runtime(std::string_view choice, const Target& target);

}  // namespace tf::smi
