// SPDX-License-Identifier: Apache-2.0
// Managed variables (__managed__) of a code object. Kernels read such a variable through a pointer of its
// name, which whoever loads the code sets to memory that the host reaches as well. The compiler keeps the
// first value under another name (clang's CodeGen, "TransformManagedVar"; AMD's runtime looks for the same
// suffix). Nothing here keeps state: any thread.
#pragma once

#include "hipcore/codeobject/bytes.h"
#include "hipcore/codeobject/elf.h"

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace tf::codeobject {

inline constexpr std::string_view kManagedSuffix = ".managed";
inline constexpr std::string_view kManagedPtxSuffix = "$managed";  // names in PTX have no dots
inline constexpr std::size_t kManagedVariablesMax = 65536;         // of one code object

struct ManagedVariable {
  std::string name;
  std::string initial;  // the name of the first value
  // Addresses within the image, and the bytes of the value; 0: nobody knows (PTX).
  std::uint64_t pointer_value = 0;
  std::uint64_t initial_value = 0;
  std::uint64_t bytes = 0;
};

// Of an ELF image: those that have a defined pointer and a defined first value.
std::vector<ManagedVariable> managed_variables(const Elf& elf);
// Of any image that a device loads. Empty where it cannot be read.
std::vector<ManagedVariable> managed_variables(Bytes image);

}  // namespace tf::codeobject
