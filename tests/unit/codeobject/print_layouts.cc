// SPDX-License-Identifier: Apache-2.0
// print_layouts IMAGE DEVICE: prints the metadata of the code object for the device, as
// amdgpu_layouts_test.py compares it. Any trouble: a message, and the exit status 1.
#include "hipcore/codeobject/fat_binary.h"
#include "hipcore/codeobject/metadata.h"

#include <cstdio>
#include <fstream>
#include <iterator>
#include <string>

namespace tf::codeobject {
namespace {

const char* name_of(ArgumentKind kind) {
  switch (kind) {
    case ArgumentKind::kByValue: return "by_value";
    case ArgumentKind::kPointer: return "global_buffer";
    case ArgumentKind::kDynamicShared: return "dynamic_shared_pointer";
    case ArgumentKind::kOther: break;
  }
  return "other";
}

Status print(const char* path, const char* device) {
  std::ifstream file(path, std::ios::binary);
  const std::string image{std::istreambuf_iterator<char>(file), {}};
  auto selected = select_code_object(std::as_bytes(std::span(image)), device);
  if (!selected) return selected.status();
  auto kernels = read_metadata(selected->image);
  if (!kernels) return kernels.status();
  for (const KernelInfo& kernel : *kernels) {
    std::printf("kernel %s %s %u %u %u %u %u %u %u %u %u\n", kernel.name.c_str(), kernel.symbol.c_str(),
                kernel.argument_bytes, kernel.argument_align_bytes, kernel.explicit_argument_bytes,
                kernel.static_shared_bytes, kernel.private_bytes, kernel.max_threads_per_block,
                kernel.wave_size, kernel.scalar_registers, kernel.vector_registers);
    for (const Argument& argument : kernel.arguments)
      std::printf("argument %u %u %s\n", argument.offset_bytes, argument.size_bytes, name_of(argument.kind));
  }
  return Status::ok();
}

}  // namespace
}  // namespace tf::codeobject

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  const tf::Status status = tf::codeobject::print(argv[1], argv[2]);
  if (!status.is_ok()) std::fprintf(stderr, "%s\n", status.to_string().c_str());
  return status.is_ok() ? 0 : 1;
}
