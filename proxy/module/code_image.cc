// SPDX-License-Identifier: Apache-2.0
// Finds the code object for a device, and reads its kernels.
#include "proxy/module/code_image.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "hipcore/codeobject/elf.h"
#include "hipcore/codeobject/fat_binary.h"
#include "hipcore/codeobject/metadata.h"
#include "hipcore/codeobject/nvidia.h"
#include "proxy/base/log.h"

namespace tf::proxy {
namespace {

hipError_t image_error(const Status& status) {
  if (status.code() != Code::kUnsupported && status.code() != Code::kUnavailable) {
    log_debug("code object: " + status.to_string());
    return hipErrorInvalidImage;
  }
  // The program hears a number, and its user can do something about the reason.
  // Never destroyed: programs load modules from static destructors.
  static auto& told = *new LogEachOnce;
  told.line("code object: " + status.message());
  log_debug("code object: " + status.to_string());
  return hipErrorNoBinaryForGpu;
}

std::shared_ptr<const KernelLayout> layout_of(const codeobject::KernelInfo& kernel) {
  auto layout = std::make_shared<KernelLayout>();
  layout->name = kernel.name;
  for (const codeobject::Argument& argument : kernel.arguments)
    layout->arguments.push_back({argument.offset_bytes, argument.size_bytes});
  layout->argument_bytes = kernel.explicit_argument_bytes;
  layout->static_shared_bytes = kernel.static_shared_bytes;
  layout->private_bytes = kernel.private_bytes;
  layout->max_threads_per_block = kernel.max_threads_per_block;
  layout->registers = kernel.vector_registers;
  layout->can_print = kernel.can_print;
  return layout;
}

}  // namespace

CodeHash hash_code(std::span<const std::byte> bytes) {
  XXH128_hash_t hash = XXH3_128bits(bytes.data(), bytes.size());
  return {hash.low64, hash.high64};
}

hipError_t CodeImage::read(const void* image, std::string_view target,
                           std::shared_ptr<const CodeImage>& read) {
  if (Result<const void*> wrapped = codeobject::wrapped_image(image)) image = *wrapped;
  Result<std::uint64_t> extent = codeobject::image_extent(image);
  if (!extent) return image_error(extent.status());
  return CodeImage::read(std::span(static_cast<const std::byte*>(image), *extent), target, read);
}

hipError_t CodeImage::read(std::span<const std::byte> whole, std::string_view target,
                           std::shared_ptr<const CodeImage>& read) {
  Result<codeobject::Selected> selected = codeobject::select_code_object(whole, target);
  if (!selected) return image_error(selected.status());
  if (codeobject::Elf::has_magic(selected->image)) {
    // Its loader trusts its headers.
    Result<std::uint64_t> inside = codeobject::Elf::extent(selected->image);
    if (!inside) return image_error(inside.status());
  }
  auto made = std::make_shared<CodeImage>();
  if (codeobject::is_nvidia_code(selected->image)) {
    if (hipError_t error = made->take_nvidia_code(selected->image); error != hipSuccess) return error;
    read = std::move(made);
    return hipSuccess;
  }
  made->bytes_.assign(selected->image.begin(), selected->image.end());
  made->hash_ = hash_code(made->bytes_);
  Result<std::vector<codeobject::KernelInfo>> kernels = codeobject::read_metadata(made->bytes_);
  if (!kernels) {
    log_debug("code object: " + kernels.status().to_string());
    return hipErrorInvalidImage;
  }
  for (const codeobject::KernelInfo& kernel : *kernels) {
    auto layout = layout_of(kernel);
    if (is_sane(*layout))
      made->kernels_.emplace(layout->name, layout);  // the key views the layout's own name
  }
  read = std::move(made);
  return hipSuccess;
}

hipError_t CodeImage::take_nvidia_code(std::span<const std::byte> code) {
  if (codeobject::is_cuda_fatbin(code)) {
    Result<std::uint64_t> inside = codeobject::cuda_fatbin_extent(code);
    if (!inside) return image_error(inside.status());
    code = code.first(static_cast<std::size_t>(*inside));
  }
  const bool text = codeobject::is_ptx(code);
  if (text) code = codeobject::ptx_text(code);
  bytes_.assign(code.begin(), code.end());
  if (text) bytes_.push_back(std::byte{});  // its loader reads up to there
  hash_ = hash_code(bytes_);
  describes_kernels_ = false;
  can_print_ = codeobject::can_print(bytes_);
  return hipSuccess;
}

std::shared_ptr<const KernelLayout> CodeImage::kernel(std::string_view name) const {
  auto found = kernels_.find(name);
  return found == kernels_.end() ? nullptr : found->second;
}

}  // namespace tf::proxy
