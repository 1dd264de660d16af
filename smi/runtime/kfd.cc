// SPDX-License-Identifier: Apache-2.0
// Reads the topology of amdkfd.
#include "smi/runtime/kfd.h"

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <map>
#include <sstream>

#include "smi/runtime/files.h"

namespace tf::smi {
namespace {

namespace fs = std::filesystem;
using Properties = std::map<std::string, std::uint64_t>;

constexpr std::uint64_t kHeapPublic = 1;   // of the device, and visible to the host
constexpr std::uint64_t kHeapPrivate = 2;  // of the device
constexpr std::uint64_t kLinkXgmi = 11;

// Lines "NAME NUMBER"; others are left out.
Properties read_properties(const fs::path& folder) {
  Properties found;
  std::istringstream lines(read_text(folder / "properties"));
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string name;
    std::uint64_t number = 0;
    if (words >> name >> number) found[name] = number;
  }
  return found;
}

std::uint64_t of(const Properties& properties, const char* name) {
  const auto found = properties.find(name);
  return found == properties.end() ? 0 : found->second;
}

// 90402 is gfx942, 90010 is gfx90a.
std::string architecture_of(std::uint64_t version) {
  if (version == 0 || version > 999'999) return {};
  char text[16];
  std::snprintf(text, sizeof text, "gfx%u%x%x", static_cast<unsigned>(version / 10'000),
                static_cast<unsigned>(version / 100 % 100), static_cast<unsigned>(version % 100));
  return text;
}

std::string address_of(const Properties& properties) {
  const std::uint64_t location = of(properties, "location_id");
  char text[32];
  std::snprintf(text, sizeof text, "%04x:%02x:%02x.%x", static_cast<unsigned>(of(properties, "domain")),
                static_cast<unsigned>(location >> 8 & 0xff), static_cast<unsigned>(location >> 3 & 0x1f),
                static_cast<unsigned>(location & 7));
  return text;
}

KfdGpu gpu_of(const fs::path& folder, const Properties& properties, std::uint64_t node) {
  KfdGpu gpu;
  gpu.node = node;
  gpu.pci = address_of(properties);
  gpu.architecture = architecture_of(of(properties, "gfx_target_version"));
  gpu.unique_id = of(properties, "unique_id");
  gpu.compute_units =
      of(properties, "simd_count") / std::max<std::uint64_t>(1, of(properties, "simd_per_cu"));
  gpu.clock_mhz = of(properties, "max_engine_clk_fcompute");
  gpu.render_minor = of(properties, "drm_render_minor");
  for (const fs::path& bank : entries(folder / "mem_banks")) {
    const Properties memory = read_properties(bank);
    const std::uint64_t heap = of(memory, "heap_type");
    if (heap == kHeapPublic || heap == kHeapPrivate) gpu.memory_bytes += of(memory, "size_in_bytes");
  }
  for (const fs::path& link : entries(folder / "io_links"))
    if (const Properties way = read_properties(link); of(way, "type") == kLinkXgmi)
      gpu.xgmi.push_back(of(way, "node_to"));
  return gpu;
}

}  // namespace

std::vector<KfdGpu> read_kfd(const fs::path& root) {
  std::vector<KfdGpu> found;
  for (const fs::path& folder : entries(root / "sys/class/kfd/kfd/topology/nodes")) {
    const std::string name = folder.filename().string();
    std::uint64_t node = 0;
    const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), node);
    if (error != std::errc() || end != name.data() + name.size()) continue;
    const Properties properties = read_properties(folder);
    if (of(properties, "simd_count") != 0) found.push_back(gpu_of(folder, properties, node));
  }
  std::ranges::sort(found, {}, &KfdGpu::node);
  return found;
}

}  // namespace tf::smi
