// SPDX-License-Identifier: Apache-2.0
// NvidiaRuntime: NVML, NVIDIA's management library. We declare what we use of it ourselves. Source: NVIDIA's
// NVML API reference; its functions and types have been the same since driver 450.
#pragma once

#include <memory>

#include "smi/runtime/runtime.h"

namespace tf::smi {

struct Nvml;

class NvidiaRuntime final : public Runtime {
 public:
  // `file`: the library; null: the driver's.
  static Result<std::unique_ptr<Runtime>> open(const char* file = nullptr);
  ~NvidiaRuntime() override;

  std::string_view name() const override { return "nvidia"; }
  Status describe(const Target& target, Facts& facts) override;
  Status sample(const Target& target, Sample& sample) override;
  // NVML has no weights. These are what AMD's driver gives to links of the same kind.
  Status find_link(const Target& from, const Target& to, Link& link) override;

 private:
  explicit NvidiaRuntime(std::unique_ptr<Nvml> nvml);
  Status find(const Target& target, void*& device) const;
  void sample_load(void* device, Sample& sample) const;
  void sample_link(void* device, Sample& sample) const;

  const std::unique_ptr<Nvml> nvml_;
};

}  // namespace tf::smi
