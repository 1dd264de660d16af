// SPDX-License-Identifier: Apache-2.0
// Kernel metadata; see metadata.h. Unknown keys are passed over, so newer compilers' notes still read.
#include "hipcore/codeobject/metadata.h"

#include "hipcore/codeobject/elf.h"
#include "hipcore/codeobject/msgpack.h"

#include <algorithm>

namespace tf::codeobject {
namespace {

using msgpack::Kind;
using msgpack::Reader;

Status malformed_metadata(const char* what) {
  return {Code::kProtocol, std::string("kernel metadata: ") + what};
}

Result<std::uint32_t> read_number(Reader& reader) {
  auto value = reader.expect(Kind::kInteger);
  if (!value) return value.status();
  if (value->negative || value->integer > UINT32_MAX) return malformed_metadata("a number out of range");
  return static_cast<std::uint32_t>(value->integer);
}

Status read_into(Reader& reader, std::uint32_t& target) {
  auto number = read_number(reader);
  if (!number) return number.status();
  target = *number;
  return Status::ok();
}

Status read_into(Reader& reader, std::string& target) {
  auto value = reader.expect(Kind::kString);
  if (!value) return value.status();
  target = value->text;
  return Status::ok();
}

Status read_into(Reader& reader, bool& target) {
  auto value = reader.expect(Kind::kBool);
  if (!value) return value.status();
  target = value->boolean;
  return Status::ok();
}

ArgumentKind kind_of(std::string_view value_kind) {
  if (value_kind == "by_value") return ArgumentKind::kByValue;
  if (value_kind == "global_buffer") return ArgumentKind::kPointer;
  if (value_kind == "dynamic_shared_pointer") return ArgumentKind::kDynamicShared;
  return ArgumentKind::kOther;
}

// Takes the argument, or what a hidden one tells of the kernel.
Status read_argument(Reader& reader, KernelInfo& kernel) {
  auto map = reader.expect(Kind::kMap);
  if (!map) return map.status();
  Argument argument;
  std::string value_kind;
  for (std::uint32_t i = 0; i < map->count; ++i) {
    auto key = reader.expect(Kind::kString);
    if (!key) return key.status();
    if (key->text == ".offset")
      TF_RETURN_IF_ERROR(read_into(reader, argument.offset_bytes));
    else if (key->text == ".size")
      TF_RETURN_IF_ERROR(read_into(reader, argument.size_bytes));
    else if (key->text == ".value_kind")
      TF_RETURN_IF_ERROR(read_into(reader, value_kind));
    else
      TF_RETURN_IF_ERROR(reader.skip());
  }
  if (value_kind == "hidden_hostcall_buffer" || value_kind == "hidden_printf_buffer") kernel.can_print = true;
  if (value_kind.starts_with("hidden_")) return Status::ok();
  argument.kind = kind_of(value_kind);
  kernel.arguments.push_back(argument);
  return Status::ok();
}

Status read_arguments(Reader& reader, KernelInfo& kernel) {
  auto array = reader.expect(Kind::kArray);
  if (!array) return array.status();
  if (array->count > kMaxArguments) return malformed_metadata("more than 4096 arguments");
  for (std::uint32_t i = 0; i < array->count; ++i) TF_RETURN_IF_ERROR(read_argument(reader, kernel));
  return Status::ok();
}

// The number fields of a kernel by their key; null for other keys.
std::uint32_t* number_field(KernelInfo& kernel, std::string_view key) {
  if (key == ".kernarg_segment_size") return &kernel.argument_bytes;
  if (key == ".kernarg_segment_align") return &kernel.argument_align_bytes;
  if (key == ".group_segment_fixed_size") return &kernel.static_shared_bytes;
  if (key == ".private_segment_fixed_size") return &kernel.private_bytes;
  if (key == ".max_flat_workgroup_size") return &kernel.max_threads_per_block;
  if (key == ".wavefront_size") return &kernel.wave_size;
  if (key == ".sgpr_count") return &kernel.scalar_registers;
  if (key == ".vgpr_count") return &kernel.vector_registers;
  if (key == ".hipr_constant_size") return &kernel.constant_bytes;
  return nullptr;
}

Status check(KernelInfo& kernel) {
  if (kernel.name.empty()) return malformed_metadata("a kernel without a name");
  if (kernel.argument_bytes > kMaxArgumentBytes)
    return malformed_metadata("an argument block of more than 64 KiB");
  for (const Argument& argument : kernel.arguments) {
    const std::uint64_t end = std::uint64_t{argument.offset_bytes} + argument.size_bytes;
    if (end > kernel.argument_bytes) return malformed_metadata("an argument lies outside its block");
    kernel.explicit_argument_bytes =
        std::max(kernel.explicit_argument_bytes, static_cast<std::uint32_t>(end));
  }
  return Status::ok();
}

Result<KernelInfo> read_kernel(Reader& reader) {
  auto map = reader.expect(Kind::kMap);
  if (!map) return map.status();
  KernelInfo kernel;
  for (std::uint32_t i = 0; i < map->count; ++i) {
    auto key = reader.expect(Kind::kString);
    if (!key) return key.status();
    std::uint32_t* const number = number_field(kernel, key->text);
    if (number != nullptr)
      TF_RETURN_IF_ERROR(read_into(reader, *number));
    else if (key->text == ".name")
      TF_RETURN_IF_ERROR(read_into(reader, kernel.name));
    else if (key->text == ".symbol")
      TF_RETURN_IF_ERROR(read_into(reader, kernel.symbol));
    else if (key->text == ".args")
      TF_RETURN_IF_ERROR(read_arguments(reader, kernel));
    else if (key->text == ".hipr_prints")
      TF_RETURN_IF_ERROR(read_into(reader, kernel.can_print));
    else if (key->text == ".hipr_parks")
      TF_RETURN_IF_ERROR(read_into(reader, kernel.parks));
    else if (key->text == ".hipr_spins")
      TF_RETURN_IF_ERROR(read_into(reader, kernel.spins));
    else
      TF_RETURN_IF_ERROR(reader.skip());
  }
  TF_RETURN_IF_ERROR(check(kernel));
  return kernel;
}

Status read_kernels(Reader& reader, std::vector<KernelInfo>& kernels) {
  auto array = reader.expect(Kind::kArray);
  if (!array) return array.status();
  if (array->count > kMaxKernels - kernels.size()) return malformed_metadata("more than 65536 kernels");
  for (std::uint32_t i = 0; i < array->count; ++i) {
    auto kernel = read_kernel(reader);
    if (!kernel) return kernel.status();
    kernels.push_back(std::move(*kernel));
  }
  return Status::ok();
}

// Adds the kernels of one note.
Status read_message(Bytes message, std::vector<KernelInfo>& kernels) {
  Reader reader(message);
  auto map = reader.expect(Kind::kMap);
  if (!map) return map.status();
  for (std::uint32_t i = 0; i < map->count; ++i) {
    auto key = reader.expect(Kind::kString);
    if (!key) return key.status();
    if (key->text == "amdhsa.kernels")
      TF_RETURN_IF_ERROR(read_kernels(reader, kernels));
    else
      TF_RETURN_IF_ERROR(reader.skip());
  }
  return Status::ok();
}

}  // namespace

Result<std::vector<KernelInfo>> parse_metadata(Bytes message) {
  std::vector<KernelInfo> kernels;
  TF_RETURN_IF_ERROR(read_message(message, kernels));
  return kernels;
}

// What a linker joins keeps the note of each part: rocBLAS's code objects have one for each kernel.
Result<std::vector<KernelInfo>> read_metadata(Bytes elf_image) {
  auto elf = Elf::parse(elf_image);
  if (!elf) return elf.status();
  std::vector<KernelInfo> kernels;
  bool described = false;
  for (const Note& note : elf->notes()) {
    if (note.type != kMetadataNoteType || note.owner != "AMDGPU") continue;
    described = true;
    TF_RETURN_IF_ERROR(read_message(note.description, kernels));
  }
  if (described) return kernels;
  return Status{Code::kUnavailable,
                "code object: no kernel metadata note (code object version 3 or later has one)"};
}

}  // namespace tf::codeobject
