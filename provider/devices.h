// SPDX-License-Identifier: Apache-2.0
// The devices that this host offers to TensorFusion, and where they come from. Plain values; for one thread.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "hipcore/smi/values.h"
#include "smi/runtime/runtime.h"
#include "transport/base/status.h"

namespace tf::provider {

struct Device {
  std::string uuid;  // a legal name in Kubernetes once its letters are small
  std::string
      visible;  // what ROCR_VISIBLE_DEVICES (of simulated ones: HIP_VISIBLE_DEVICES) and workers call it
  std::string vendor;
  std::string model;
  std::string driver;
  std::string firmware;
  std::string node;          // "/dev/dri/renderD128"; empty: none
  smi::Target target;        // of the SMI runtime
  std::uint64_t number = 0;  // of the kernel's topology, or of the CPU runtime
  int numa_node = -1;
  std::uint64_t memory_bytes = 0;
  std::uint64_t compute_units = 0;
  double tflops = 0;  // an estimate: compute units, highest clock, and what one does in a cycle at fp16
  std::uint32_t pcie_generation = 0;
  std::uint32_t pcie_width = 0;
  bool simulated = false;
  std::vector<std::uint64_t> linked;  // `number` of those that it has a link of its own to
  std::vector<std::pair<std::string, std::string>> properties;
};

class Source {
 public:
  virtual ~Source() = default;

  virtual const std::vector<Device>& devices() const = 0;
  // What is not known stays as it is.
  virtual Status sample(const Device& device, smi::Sample& sample) = 0;
  virtual std::vector<smi::Process> processes(const Device& device) = 0;
};

// AMD's GPUs, by librocm_smi64 and the kernel. `library`: another file; null: ROCm's. `root`: where sys is.
Result<std::unique_ptr<Source>> open_gpus(const char* library, const std::string& root);
// The devices of libhip_cpu.so, called NAME-0, NAME-1, ...
Result<std::unique_ptr<Source>> open_simulated(const std::string& name);
// As TF_PROVIDER_SIMULATED says: set, simulated ones of this name; else GPUs.
Result<std::unique_ptr<Source>> open_source();

// "gfx942": floating-point operations that one compute unit does in a cycle, fp16, without sparsity.
double flops_per_cycle(const std::string& architecture);

}  // namespace tf::provider
