// SPDX-License-Identifier: Apache-2.0
// What a compiled program registers: stubs of kernels, variables, texture references.
#include <mutex>

#include "tests/differential/case.h"

namespace tf::differential {
namespace {

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"

struct Wrapper {  // what the compiler puts around a fat binary
  unsigned magic = 0x48495046;
  unsigned version = 1;
  const void* image = nullptr;
  const void* unused = nullptr;
};

// One of each, as in a program: registered once, before they are first used.
struct Program {
  char stub = 0;
  char stub_unknown = 0;
  char variable = 0;
  textureReference reference{};
  Wrapper kernels;
  Wrapper textures;
};

void register_program(const Api& api, Program& all) {
  all.kernels.image = bytes_of(kKernelFile).data();
  all.textures.image = bytes_of(kTextureFile).data();
  const auto find = [&]<typename Function>(Function* type, const char* name) {
    return reinterpret_cast<decltype(type)>(api.find(name));
  };
  using Binary = void**(const void*);
  using Kernel =
      void(void**, const void*, const char*, const char*, unsigned, void*, void*, void*, void*, void*);
  using Variable = void(void**, void*, const char*, const char*, int, std::size_t, int, int);
  using Texture = void(void**, void*, const char*, const char*, int, int, int);
  Binary* const add = find(static_cast<Binary*>(nullptr), "__hipRegisterFatBinary");
  void** const kernels = add(&all.kernels);
  void** const textures = add(&all.textures);
  find(static_cast<Kernel*>(nullptr), "__hipRegisterFunction")(kernels, &all.stub, "fill", "fill", 0, nullptr,
                                                               nullptr, nullptr, nullptr, nullptr);
  find(static_cast<Variable*>(nullptr), "__hipRegisterVar")(kernels, &all.variable, "module_table",
                                                            "module_table", 0, 64, 0, 0);
  find(static_cast<Texture*>(nullptr), "__hipRegisterTexture")(textures, &all.reference, "module_line",
                                                               "module_line", 1, 0, 0);
}

// REQUIRES: a process uses the library of one major
Program& program(Case& c) {
  static Program all;
  static std::once_flag once;
  std::call_once(once, [&] { register_program(c.api, all); });
  return all;
}

// As it is when the program starts.
textureReference* reference(Case& c) {
  textureReference* const found = &program(c).reference;
  c.api.quietly("hipUnbindTexture", static_cast<const textureReference*>(found));
  *found = {};
  found->channelDesc = {32, 0, 0, 0, hipChannelFormatKindFloat};
  found->format = HIP_AD_FORMAT_FLOAT;
  found->numChannels = 1;
  c.after([&api = c.api, found] {
    api.quietly("hipUnbindTexture", static_cast<const textureReference*>(found));
  });
  return found;
}
Value reference_normalized(Case& c) {
  textureReference* const found = c.handle<textureReference*>("reference");
  found->normalized = 1;  // as levels need
  return pointer(found);
}
Value reference_bound(Case& c) {
  const textureReference* const found = c.handle<textureReference*>("reference");
  std::size_t offset = 0;
  c.check(c.api("hipBindTexture", &offset, found, c.handle<const void*>("device"),
                c.handle<const hipChannelFormatDesc*>("elements"), std::size_t{4096}),
          "hipBindTexture");
  return pointer(found);
}
Value reference_array(Case& c) {
  const textureReference* const found = c.handle<textureReference*>("reference");
  c.check(c.api("hipBindTextureToArray", found, c.handle<hipArray_const_t>("array"),
                c.handle<const hipChannelFormatDesc*>("elements")),
          "hipBindTextureToArray");
  return pointer(found);
}
Value reference_mipmapped(Case& c) {
  const textureReference* const found = c.handle<textureReference*>("reference_normalized");
  c.check(c.api("hipBindTextureToMipmappedArray", found, c.handle<hipMipmappedArray_const_t>("mipmapped"),
                c.handle<const hipChannelFormatDesc*>("elements")),
          "hipBindTextureToMipmappedArray");
  return pointer(found);
}

#pragma GCC diagnostic pop

Value fat_binary(Case& c) {
  Wrapper* const wrapper = c.keep<Wrapper>();
  *wrapper = {};
  wrapper->image = bytes_of(kKernelFile).data();
  return pointer(wrapper);
}
// The handle of a registered binary.
Value fat_modules(Case& c) {
  using Add = void**(const void*);
  using Remove = void(void**);
  auto* const add = reinterpret_cast<Add*>(c.api.find("__hipRegisterFatBinary"));
  auto* const remove = reinterpret_cast<Remove*>(c.api.find("__hipUnregisterFatBinary"));
  // Its wrapper outlives the case: the call may have registered the same data.
  void** const modules = add(c.handle<const void*>("fat_binary"));
  c.after([remove, modules] { remove(modules); });
  return pointer(modules);
}

}  // namespace

void add_symbols(Fixtures& all) {
  all["stub"] = [](Case& c) { return pointer(&program(c).stub); };
  all["stub_unknown"] = [](Case& c) { return pointer(&program(c).stub_unknown); };
  all["variable"] = [](Case& c) { return pointer(&program(c).variable); };
  all["reference"] = [](Case& c) { return pointer(reference(c)); };
  all["reference_normalized"] = reference_normalized;
  all["reference_bound"] = reference_bound;
  all["reference_array"] = reference_array;
  all["reference_mipmapped"] = reference_mipmapped;
  all["reference_loose"] = [](Case& c) { return pointer(c.block(4096)); };
  all["fat_binary"] = fat_binary;
  all["fat_modules"] = fat_modules;
  all["words_other"] = [](Case& c) { return pointer(c.block(4096)); };
}

}  // namespace tf::differential
