// SPDX-License-Identifier: Apache-2.0
// Reads /proc and /sys.
#include "smi/runtime/files.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <system_error>

#include "transport/net/fd.h"

namespace tf::smi {
namespace {

namespace fs = std::filesystem;

// "16.0 GT/s PCIe" is 16000.
std::uint64_t link_speed(const fs::path& file) {
  const std::string text = read_text(file);
  char* end = nullptr;
  const double speed = std::strtod(text.c_str(), &end);
  const bool sane =
      end != text.c_str() && std::string_view(end).starts_with(" GT/s") && speed > 0 && speed < 1e6;
  return sane ? static_cast<std::uint64_t>(speed * 1000 + 0.5) : kUnknown;
}

// Not what the kernel writes of a device without a link.
std::uint64_t link_width(const fs::path& file) {
  const std::uint64_t width = read_number(file);
  return width == 0 || width > 64 ? kUnknown : width;
}

fs::path folder_of(const fs::path& root, const std::string& pci) {
  return root / "sys/bus/pci/devices" / pci;
}

void set(std::uint64_t& field, std::uint64_t value) {
  if (value != kUnknown) field = value;
}

}  // namespace

std::string read_text(const fs::path& file) {
  const net::OwnedFd opened(::open(file.c_str(), O_RDONLY | O_CLOEXEC));
  std::string text;
  while (opened && text.size() < kFileBytesMax) {
    char part[4096];
    const ssize_t got = ::read(opened.get(), part, sizeof part);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) break;
    text.append(part, static_cast<std::size_t>(got));
  }
  text.erase(text.find_last_not_of(" \n\t") + 1);
  return text;
}

std::uint64_t read_number(const fs::path& file, int base) {
  const std::string text = read_text(file);
  char* end = nullptr;
  errno = 0;
  const long long number = std::strtoll(text.c_str(), &end, base);
  const bool whole = !text.empty() && *end == '\0' && errno == 0;
  return whole ? static_cast<std::uint64_t>(number) : kUnknown;
}

std::vector<fs::path> entries(const fs::path& folder) {
  std::vector<fs::path> found;
  std::error_code error;
  for (fs::directory_iterator each(folder, error), end; !error && each != end && found.size() < kEntriesMax;
       each.increment(error))
    found.push_back(each->path());
  std::ranges::sort(found);
  return found;
}

void describe_pci(const fs::path& root, const std::string& pci, Facts& facts) {
  if (pci.empty() || pci.find('/') != std::string::npos) return;
  const fs::path folder = folder_of(root, pci);
  set(facts.vendor_id, read_number(folder / "vendor", 16));
  set(facts.device_id, read_number(folder / "device", 16));
  set(facts.subsystem_vendor_id, read_number(folder / "subsystem_vendor", 16));
  set(facts.subsystem_id, read_number(folder / "subsystem_device", 16));
  set(facts.revision_id, read_number(folder / "revision", 16));
  set(facts.pcie_width_max, link_width(folder / "max_link_width"));
  set(facts.pcie_speed_max_mtps, link_speed(folder / "max_link_speed"));
  const std::uint64_t node = read_number(folder / "numa_node");
  if (as_signed(node) >= 0) set(facts.numa_node, node);
}

void sample_pci(const fs::path& root, const std::string& pci, Sample& sample) {
  if (pci.empty() || pci.find('/') != std::string::npos) return;
  const fs::path folder = folder_of(root, pci);
  set(sample.pcie_width, link_width(folder / "current_link_width"));
  set(sample.pcie_speed_mtps, link_speed(folder / "current_link_speed"));
}

}  // namespace tf::smi
