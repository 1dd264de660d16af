// SPDX-License-Identifier: Apache-2.0
// Numbers and words of /proc and /sys. What cannot be read or is no number is unknown.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "hipcore/smi/values.h"

namespace tf::smi {

inline constexpr std::size_t kFileBytesMax = 256 << 10;  // that are read of one file
inline constexpr std::size_t kEntriesMax = 4096;         // that are looked at in one folder

// Without the white space at its end; empty: it cannot be read.
std::string read_text(const std::filesystem::path& file);
// The whole file is one number, of this base. Negative ones are two's complement.
std::uint64_t read_number(const std::filesystem::path& file, int base = 10);
// In the order of their names.
std::vector<std::filesystem::path> entries(const std::filesystem::path& folder);
// What the kernel knows of the device on the bus: vendor, numbers, NUMA node, width and speed of the link.
// `pci`: "0000:03:00.0".
void describe_pci(const std::filesystem::path& root, const std::string& pci, Facts& facts);
void sample_pci(const std::filesystem::path& root, const std::string& pci, Sample& sample);

}  // namespace tf::smi
