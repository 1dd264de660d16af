// SPDX-License-Identifier: Apache-2.0
// Which code runs on which device; see targets.h.
#include "hipcore/codeobject/targets.h"

#include "hipcore/codeobject/fat_binary.h"

namespace tf::codeobject {
namespace {

struct Family {
  std::string_view generic;
  std::string_view processors;  // each between two blanks
};

// "Generic processor code objects" in LLVM's AMDGPUUsage.
constexpr Family kFamilies[] = {
    {"gfx9-generic", " gfx900 gfx902 gfx904 gfx906 gfx909 gfx90c "},
    {"gfx9-4-generic", " gfx940 gfx941 gfx942 gfx950 "},
    {"gfx10-1-generic", " gfx1010 gfx1011 gfx1012 gfx1013 "},
    {"gfx10-3-generic", " gfx1030 gfx1031 gfx1032 gfx1033 gfx1034 gfx1035 gfx1036 "},
    {"gfx11-generic", " gfx1100 gfx1101 gfx1102 gfx1103 gfx1150 gfx1151 gfx1152 gfx1153 "},
    {"gfx12-generic", " gfx1200 gfx1201 "},
    {"gfx12-5-generic", " gfx1250 gfx1251 "},
};

// More than the features of any id.
constexpr int kOwnProcessor = static_cast<int>(kMaxBundleIdBytes);

// Whether `words`, which are separated by blanks, has `word`.
bool has_word(std::string_view words, std::string_view word) {
  const auto at = words.find(word);
  return !word.empty() && at != std::string_view::npos && words[at - 1] == ' ' &&
         words[at + word.size()] == ' ';
}

// The next "name+" or "name-" of a target's feature list; removes it from the list.
std::string_view take_feature(std::string_view& list) {
  if (!list.empty() && list.front() == ':') list.remove_prefix(1);
  const std::string_view feature = list.substr(0, list.find(':'));
  list.remove_prefix(feature.size());
  return feature;
}

bool has_feature(std::string_view list, std::string_view wanted) {
  while (!list.empty()) {
    if (take_feature(list) == wanted) return true;
  }
  return false;
}

std::string_view processor_of(std::string_view target) { return target.substr(0, target.find(':')); }

}  // namespace

std::string_view target_of_entry(std::string_view id) {
  if (!id.starts_with("hip")) return {};
  if (const auto twice = id.find("--"); twice != std::string_view::npos) return id.substr(twice + 2);
  // "hip-amdgcn-amd-amdhsa-gfx906" of old files, or "hip-amdgcn-amd-amdhsa-unknown-gfx906".
  for (int part = 0; part < 4; ++part) {
    const auto dash = id.find('-');
    if (dash == std::string_view::npos) return {};
    id.remove_prefix(dash + 1);
  }
  constexpr std::string_view kNoEnvironment = "unknown-";
  if (id.starts_with(kNoEnvironment)) id.remove_prefix(kNoEnvironment.size());
  return id;
}

std::string_view generic_processor(std::string_view processor) {
  for (const Family& family : kFamilies) {
    if (has_word(family.processors, processor)) return family.generic;
  }
  return {};
}

int match_target(std::string_view entry_target, std::string_view device_target) {
  const std::string_view processor = processor_of(entry_target);
  const std::string_view device = processor_of(device_target);
  if (processor.empty()) return -1;
  const bool own = processor == device;
  if (!own && processor != generic_processor(device)) return -1;
  std::string_view demanded = entry_target.substr(processor.size());
  const std::string_view offered = device_target.substr(device.size());
  int score = own ? kOwnProcessor : 0;
  while (!demanded.empty()) {
    const std::string_view feature = take_feature(demanded);
    if (feature.empty()) continue;
    if (!has_feature(offered, feature)) return -1;
    ++score;
  }
  return score;
}

}  // namespace tf::codeobject
