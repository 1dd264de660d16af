// SPDX-License-Identifier: Apache-2.0
// Runtime: where SMI values come from: a vendor's management library, or the host. Each is loaded with dlopen
// when it is first asked. For one thread: of a worker's session the executor, of the provider whoever has its
// lock.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "hipcore/smi/values.h"
#include "transport/base/status.h"

namespace tf::smi {

inline constexpr std::size_t kProcessesMax = 1024;

// A device as HIP names it.
struct Target {
  std::string pci;           // "0000:03:00.0"
  std::string architecture;  // "gfx942:sramecc+", "sm_90", "x86_64-cpu"
};

// A process that computes on a device.
struct Process {
  std::uint32_t pid = 0;
  std::uint64_t memory_bytes = kUnknown;     // of all devices that it uses: drivers do not divide it
  std::uint64_t compute_percent = kUnknown;  // of the device's compute units
};

class Runtime {
 public:
  virtual ~Runtime() = default;

  virtual std::string_view name() const = 0;  // as TF_SMI_RUNTIME has it
  // Sets what it knows; the rest stays. A failure says why nothing is known.
  virtual Status describe(const Target& target, Facts& facts) = 0;
  virtual Status sample(const Target& target, Sample& sample) = 0;
  // How two different devices reach each other. Sets what it knows; the rest stays.
  virtual Status find_link(const Target& from, const Target& to, Link& link) = 0;
  // PCI addresses of the devices, in the library's order. None: it lists none.
  virtual std::vector<std::string> addresses() const { return {}; }
  // At most kProcessesMax. None: it knows none.
  virtual std::vector<Process> processes(const Target&) const { return {}; }
};

// `choice`: auto, amd, nvidia or host. auto: by the device's architecture. The Status says what was tried.
Result<std::unique_ptr<Runtime>> open_runtime(std::string_view choice, const Target& target);

}  // namespace tf::smi
