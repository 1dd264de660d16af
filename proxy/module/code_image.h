// SPDX-License-Identifier: Apache-2.0
// CodeImage: the code object for one device, taken from the program's image, with the layouts of its kernels.
//
// Reads the program's own memory (a fat binary, a loaded file), and trusts nothing in it beyond its bounds.
// Immutable; any thread.
#pragma once

#include <hip/hip_runtime_api.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "hipcore/codeobject/managed.h"
#include "proxy/module/kernel_layout.h"

namespace tf::proxy {

struct CodeHash {
  std::uint64_t low = 0;
  std::uint64_t high = 0;
  friend bool operator==(const CodeHash&, const CodeHash&) = default;
};

class CodeImage {
 public:
  // `image`: a code object (ELF, PTX, CUDA's fat binary), an offload bundle (compressed or not) or a fat
  // binary wrapper; `target`: the device's gcnArchName. hipErrorInvalidImage: none of these.
  // hipErrorNoBinaryForGpu: nothing for this device, or nothing that can be used here (SPIR-V); the log has
  // the reason.
  static hipError_t read(const void* image, std::string_view target, std::shared_ptr<const CodeImage>& read);
  // The same for an image of known length (a file): reads nothing outside it, so it cannot be a wrapper.
  static hipError_t read(std::span<const std::byte> whole, std::string_view target,
                         std::shared_ptr<const CodeImage>& read);

  std::span<const std::byte> bytes() const { return bytes_; }
  const CodeHash& hash() const { return hash_; }
  // Whether the image describes its kernels' arguments. NVIDIA's code does not, in a form that we read: then
  // only the runtime that loaded it knows its kernels, and kernel() returns none.
  bool describes_kernels() const { return describes_kernels_; }
  // If it does not describe its kernels: whether any of them may print.
  bool can_print() const { return can_print_; }
  // Null if there is no such kernel.
  std::shared_ptr<const KernelLayout> kernel(std::string_view name) const;
  std::size_t kernel_count() const { return kernels_.size(); }
  // Reads the image again.
  std::vector<codeobject::ManagedVariable> managed_variables() const {
    return codeobject::managed_variables(bytes_);
  }

 private:
  hipError_t take_nvidia_code(std::span<const std::byte> code);

  bool describes_kernels_ = true;
  bool can_print_ = false;
  std::vector<std::byte> bytes_;  // a copy: the program may free or change the original
  CodeHash hash_;
  std::unordered_map<std::string_view, std::shared_ptr<const KernelLayout>> kernels_;
};

// XXH3-128, as sent in ProbeModule and LoadModule.
CodeHash hash_code(std::span<const std::byte> bytes);

}  // namespace tf::proxy
