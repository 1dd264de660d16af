// SPDX-License-Identifier: Apache-2.0
// What smi-remote shows of a device: each value with its label, its name in JSON and its unit.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "smi/client/remote.h"

namespace tf::tools {

struct SeenDevice {
  int index = 0;
  smi::Facts facts;
  smi::Sample sample;
};

// All of them, or only one. kInvalidArgument: there is no such device.
Result<std::vector<SeenDevice>> read_devices(smi::Remote& remote, std::optional<int> only);

// In the unit of the label. `text` is empty if it is not known; `is_number` says how JSON writes it.
struct Reading {
  std::string label;
  std::string key;
  std::string text;
  bool is_number = true;
};
std::vector<Reading> facts_of(const SeenDevice& device);
std::vector<Reading> measurements_of(const SeenDevice& device);

// The number in another unit, with so many decimals; empty: it is not known.
std::string in_unit(std::uint64_t number, double unit, int decimals, bool is_signed = false);
// "0000:03:00.0"; empty: it is not known.
std::string pci_of(const smi::Facts& facts);
// Percent, 0 to 100; nothing: it is not known.
std::optional<double> memory_percent(const SeenDevice& device);
// Of the edge or, where it has no sensor there, of the hottest place; thousandths of a degree.
std::uint64_t temperature_of(const smi::Sample& sample);
// "250 W", "250/700 W" where the most is known; empty: it is not known.
std::string power_text(const smi::Sample& sample);
// "PCIe"
std::string name_of(const smi::Link& link);

}  // namespace tf::tools
