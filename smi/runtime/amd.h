// SPDX-License-Identifier: Apache-2.0
// AmdRuntime: AMD's librocm_smi64. We declare what we use of it ourselves, and only functions whose arguments
// are the same in all of its majors, but one (AmdRuntime::Layout). Source: rocm_smi.h of ROCm 5.2 and 6.4.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "smi/runtime/runtime.h"

namespace tf::smi {

struct RocmSmi;

class AmdRuntime final : public Runtime {
 public:
  // `file`: the library; null: that of ROCm.
  static Result<std::unique_ptr<Runtime>> open(const char* file = nullptr);
  ~AmdRuntime() override;

  std::string_view name() const override { return "amd"; }
  Status describe(const Target& target, Facts& facts) override;
  Status sample(const Target& target, Sample& sample) override;
  Status find_link(const Target& from, const Target& to, Link& link) override;
  std::vector<std::string> addresses() const override;
  std::vector<Process> processes(const Target& target) const override;

 private:
  explicit AmdRuntime(std::unique_ptr<RocmSmi> rocm);
  Status find(const Target& target, std::uint32_t& index) const;
  void describe_limits(std::uint32_t index, Facts& facts) const;
  void sample_power(std::uint32_t index, Sample& sample) const;

  const std::unique_ptr<RocmSmi> rocm_;
};

}  // namespace tf::smi
