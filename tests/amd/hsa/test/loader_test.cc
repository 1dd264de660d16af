// SPDX-License-Identifier: Apache-2.0
// A code object of clang's, loaded for one agent: what its executable says of itself.
#include <fstream>
#include <iterator>
#include <set>
#include <string>

#include "tests/amd/hsa/test/hsa_fixture.h"
#include "tests/amd/isa/kernels_path.h"

namespace tf::amd::hsa::test {
namespace {

// The kernels of tests/amd/isa for a processor; empty where the compiler does not know it.
std::string bytes_of(const std::string& processor) {
  for (const isa::KernelFile& each : isa::kKernelFiles) {
    if (processor != each.processor) continue;
    std::ifstream file(each.path, std::ios::binary);
    return std::string(std::istreambuf_iterator<char>(file), {});
  }
  return {};
}

class LoaderTest : public HsaTest {
 protected:
  void SetUp() override {
    ASSERT_NO_FATAL_FAILURE(HsaTest::SetUp());
    bytes_ = bytes_of(isa_name());
    ASSERT_FALSE(bytes_.empty()) << isa_name();
    ASSERT_EQ(hsa_executable_create_alt(HSA_PROFILE_FULL, HSA_DEFAULT_FLOAT_ROUNDING_MODE_DEFAULT, nullptr,
                                        &executable_),
              HSA_STATUS_SUCCESS);
    ASSERT_EQ(hsa_code_object_reader_create_from_memory(bytes_.data(), bytes_.size(), &reader_),
              HSA_STATUS_SUCCESS);
    ASSERT_EQ(hsa_executable_load_agent_code_object(executable_, gpus_[0], reader_, nullptr, nullptr),
              HSA_STATUS_SUCCESS);
    ASSERT_EQ(hsa_executable_freeze(executable_, nullptr), HSA_STATUS_SUCCESS);
  }
  void TearDown() override {
    EXPECT_EQ(hsa_executable_destroy(executable_), HSA_STATUS_SUCCESS);
    EXPECT_EQ(hsa_code_object_reader_destroy(reader_), HSA_STATUS_SUCCESS);
    HsaTest::TearDown();
  }

  hsa_executable_t executable_{0};
  hsa_code_object_reader_t reader_{0};
  std::string bytes_;
};

std::string name_of(hsa_executable_symbol_t symbol) {
  std::uint32_t length = 0;
  hsa_executable_symbol_get_info(symbol, HSA_EXECUTABLE_SYMBOL_INFO_NAME_LENGTH, &length);
  std::string name(length, 'x');
  hsa_executable_symbol_get_info(symbol, HSA_EXECUTABLE_SYMBOL_INFO_NAME, name.data());
  return name;
}

hsa_status_t add_name(hsa_executable_t /*executable*/, hsa_executable_symbol_t symbol, void* data) {
  static_cast<std::multiset<std::string>*>(data)->insert(name_of(symbol));
  return HSA_STATUS_SUCCESS;
}

hsa_status_t stop(hsa_executable_t /*executable*/, hsa_executable_symbol_t /*symbol*/, void* data) {
  ++*static_cast<int*>(data);
  return HSA_STATUS_INFO_BREAK;
}

TEST_F(LoaderTest, CodeForAnotherProcessorIsRefused) {
  const std::string other = bytes_of(isa_name() == "gfx90a" ? "gfx1100" : "gfx90a");
  if (other.empty()) GTEST_SKIP() << "the compiler knows gfx90a only";
  hsa_code_object_reader_t reader{0};
  hsa_executable_t executable{0};
  ASSERT_EQ(hsa_code_object_reader_create_from_memory(other.data(), other.size(), &reader),
            HSA_STATUS_SUCCESS);
  ASSERT_EQ(hsa_executable_create_alt(HSA_PROFILE_FULL, HSA_DEFAULT_FLOAT_ROUNDING_MODE_DEFAULT, nullptr,
                                      &executable),
            HSA_STATUS_SUCCESS);
  EXPECT_EQ(hsa_executable_load_agent_code_object(executable, gpus_[0], reader, nullptr, nullptr),
            HSA_STATUS_ERROR_INCOMPATIBLE_ARGUMENTS);
  EXPECT_EQ(hsa_executable_destroy(executable), HSA_STATUS_SUCCESS);
  EXPECT_EQ(hsa_code_object_reader_destroy(reader), HSA_STATUS_SUCCESS);
}

TEST_F(LoaderTest, EachSymbolIsToldOnceAndFoundByItsName) {
  std::multiset<std::string> names;
  ASSERT_EQ(hsa_executable_iterate_symbols(executable_, add_name, &names), HSA_STATUS_SUCCESS);
  EXPECT_GT(names.size(), 1U);
  for (const std::string& name : names) {
    hsa_executable_symbol_t symbol{0};
    EXPECT_EQ(names.count(name), 1U) << name;
    EXPECT_EQ(hsa_executable_get_symbol_by_name(executable_, name.c_str(), &gpus_[0], &symbol),
              HSA_STATUS_SUCCESS)
        << name;
  }
}

hsa_status_t add_symbol(hsa_executable_t /*executable*/, hsa_executable_symbol_t symbol, void* data) {
  static_cast<std::vector<hsa_executable_symbol_t>*>(data)->push_back(symbol);
  return HSA_STATUS_SUCCESS;
}

TEST_F(LoaderTest, SymbolsGoWithTheirExecutable) {
  hsa_executable_t other{0};
  ASSERT_EQ(
      hsa_executable_create_alt(HSA_PROFILE_FULL, HSA_DEFAULT_FLOAT_ROUNDING_MODE_DEFAULT, nullptr, &other),
      HSA_STATUS_SUCCESS);
  ASSERT_EQ(hsa_executable_load_agent_code_object(other, gpus_[1], reader_, nullptr, nullptr),
            HSA_STATUS_SUCCESS);
  std::vector<hsa_executable_symbol_t> symbols;
  ASSERT_EQ(hsa_executable_iterate_symbols(other, add_symbol, &symbols), HSA_STATUS_SUCCESS);
  ASSERT_EQ(hsa_executable_destroy(other), HSA_STATUS_SUCCESS);
  hsa_symbol_kind_t kind{};
  for (const hsa_executable_symbol_t symbol : symbols)
    EXPECT_EQ(hsa_executable_symbol_get_info(symbol, HSA_EXECUTABLE_SYMBOL_INFO_TYPE, &kind),
              HSA_STATUS_ERROR_INVALID_EXECUTABLE_SYMBOL);
}

TEST_F(LoaderTest, ACallbackThatDoesNotSucceedEndsTheIteration) {
  int calls = 0;
  EXPECT_EQ(hsa_executable_iterate_symbols(executable_, stop, &calls), HSA_STATUS_INFO_BREAK);
  EXPECT_EQ(calls, 1);
  EXPECT_EQ(hsa_executable_iterate_symbols({12345}, stop, &calls), HSA_STATUS_ERROR_INVALID_EXECUTABLE);
  EXPECT_EQ(hsa_executable_iterate_symbols(executable_, nullptr, nullptr), HSA_STATUS_ERROR_INVALID_ARGUMENT);
}

}  // namespace
}  // namespace tf::amd::hsa::test
