// SPDX-License-Identifier: Apache-2.0
// Managed variables of loaded modules: with a runtime that takes their memory, and with one that does not, as
// AMD's, where the pointer that kernels read is found by its distance from the first value.
#include "worker/session/modules.h"

#include <gtest/gtest.h>

#include <cstring>
#include <string>

#include "hipcore/wire/handle.h"
#include "tests/unit/codeobject/builder.h"

namespace tf::worker {
namespace {

// Where the runtime has loaded the image.
alignas(8) std::byte loaded_image[256];
std::string bound_name;
void* bound_memory = nullptr;

hipError_t load(hipModule_t* module, const void*) {
  *module = reinterpret_cast<hipModule_t>(loaded_image);
  return hipSuccess;
}
hipError_t get_global(hipDeviceptr_t* address, std::size_t* bytes, hipModule_t, const char* name) {
  if (std::strcmp(name, "x.managed") != 0) return hipErrorNotFound;
  *address = loaded_image + 0x40;
  *bytes = 4;
  return hipSuccess;
}
hipError_t copy(void* target, const void* source, std::size_t bytes, hipMemcpyKind kind) {
  if (kind != hipMemcpyHostToDevice) return hipErrorInvalidValue;
  std::memcpy(target, source, bytes);
  return hipSuccess;
}
hipError_t bind(hipModule_t, const char* name, void* memory) {
  if (std::strcmp(name, "x") != 0) return hipErrorNotFound;
  bound_name = name;
  bound_memory = memory;
  return hipSuccess;
}

class ManagedOfModules : public ::testing::Test {
 protected:
  void SetUp() override {
    std::memset(loaded_image, 0, sizeof loaded_image);
    hip_.hipModuleLoadData = load;
    hip_.hipModuleGetGlobal = get_global;
    hip_.hipMemcpy = copy;
    const std::string image = codeobject::testing::elf_with(
        {{"x", 0x1080, 8}, {"x.managed", 0x1040, 4}, {"lost", 0x1090, 8}, {"lost.managed", 0x1050, 4}});
    CodeBytes code;
    code.size = image.size();
    code.data = std::make_unique<std::byte[]>(code.size);
    std::memcpy(code.data.get(), image.data(), image.size());
    const CodeHash hash = hash_of(code);
    ASSERT_TRUE(modules_.keep(hash, std::move(code)));
    ASSERT_EQ(modules_.load(objects_, module_, hash, 0), hipSuccess);
  }
  hipError_t bind(const std::string& name) { return modules_.bind_managed(objects_, module_, name, kMemory); }
  static std::uint64_t pointer_at(std::size_t offset) {
    std::uint64_t value = 0;
    std::memcpy(&value, loaded_image + offset, sizeof value);
    return value;
  }

  static constexpr std::uint64_t kMemory = 0x7123456789a0;
  const std::uint64_t module_ = protocol::Handle(protocol::HandleKind::kModule, 0, 0).raw();
  protocol::HipTable hip_{};
  OwnCalls own_calls_{nullptr};
  OptionalFunctions optional_;
  ObjectTable objects_;
  Modules modules_{hip_, own_calls_, optional_};
};

TEST_F(ManagedOfModules, ARuntimeThatTakesMemoryIsAsked) {
  optional_.bind_managed = worker::bind;
  EXPECT_EQ(bind("x"), hipSuccess);
  EXPECT_EQ(bound_name, "x");
  EXPECT_EQ(bound_memory, reinterpret_cast<void*>(kMemory));
  EXPECT_EQ(bind("y"), hipSuccess) << "no kernel uses it";
  EXPECT_EQ(pointer_at(0x80), 0u);
}

TEST_F(ManagedOfModules, ElseThePointerIsWritten) {
  EXPECT_EQ(bind("x"), hipSuccess);
  EXPECT_EQ(pointer_at(0x80), kMemory);
  EXPECT_EQ(pointer_at(0x40), 0u) << "the first value stays";
  EXPECT_EQ(bind("lost"), hipSuccess) << "the runtime does not know it";
  EXPECT_EQ(bind("y"), hipSuccess);
  EXPECT_EQ(pointer_at(0x90), 0u);
}

TEST_F(ManagedOfModules, NoModuleNoVariable) {
  EXPECT_EQ(modules_.bind_managed(objects_, module_ + 1, "x", kMemory), hipErrorInvalidHandle);
}

}  // namespace
}  // namespace tf::worker
