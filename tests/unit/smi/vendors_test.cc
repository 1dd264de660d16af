// SPDX-License-Identifier: Apache-2.0
// The runtimes of vendors' libraries, on stand-ins for these.
#include <gtest/gtest.h>

#include "smi/runtime/amd.h"
#include "smi/runtime/nvidia.h"

namespace tf::smi {
namespace {

using tf::smi::kUnknown;

TEST(Nvidia, ValuesHaveTheirUnits) {
  Result<std::unique_ptr<Runtime>> nvidia = NvidiaRuntime::open(TF_FAKE_NVML);
  ASSERT_TRUE(nvidia) << nvidia.status().to_string();
  const Target target{"0000:41:00.0", "sm_90"};
  tf::smi::Sample sample = tf::smi::unknown_sample();
  ASSERT_TRUE((*nvidia)->sample(target, sample).is_ok());
  EXPECT_EQ(sample.core_busy_percent, 37u);
  EXPECT_EQ(sample.memory_busy_percent, 12u);
  EXPECT_EQ(sample.memory_used_bytes, 400u);
  EXPECT_EQ(sample.edge_temperature_mc, 61'000u);
  EXPECT_EQ(sample.power_uw, 250'500'000u);
  EXPECT_EQ(sample.energy_uj, 9'000'000u);
  EXPECT_EQ(sample.core_clock_hz, 1'980'000'000u);
  EXPECT_EQ(sample.memory_clock_hz, 2'619'000'000u);
  EXPECT_EQ(sample.pcie_sent_bytes_per_s, 10'240u);
  EXPECT_EQ(sample.pcie_received_bytes_per_s, 20'480u);
  EXPECT_EQ(sample.errors_corrected, 3u);
  EXPECT_EQ(sample.errors_uncorrected, 1u);
  EXPECT_EQ(sample.fan_level, kUnknown) << "a function that this driver lacks";
  EXPECT_EQ(sample.power_cap_uw, kUnknown);
}

TEST(Nvidia, FactsOfADevice) {
  Result<std::unique_ptr<Runtime>> nvidia = NvidiaRuntime::open(TF_FAKE_NVML);
  ASSERT_TRUE(nvidia);
  tf::smi::Facts facts = tf::smi::unknown_facts();
  ASSERT_TRUE((*nvidia)->describe({"0000:41:00.0", "sm_90"}, facts).is_ok());
  EXPECT_EQ(tf::smi::text_of(facts.serial), "1654922000042");
  EXPECT_EQ(tf::smi::text_of(facts.driver), "550.90.07");
  EXPECT_EQ(facts.power_cap_least_uw, 100'000'000u);
  EXPECT_EQ(facts.power_cap_most_uw, 700'000'000u);
  EXPECT_EQ(tf::smi::text_of(facts.firmware), "");
}

TEST(Nvidia, ADeviceThatItDoesNotKnowIsNamed) {
  Result<std::unique_ptr<Runtime>> nvidia = NvidiaRuntime::open(TF_FAKE_NVML);
  ASSERT_TRUE(nvidia);
  tf::smi::Sample sample;
  const Status failed = (*nvidia)->sample({"0000:45:00.0", "sm_90"}, sample);
  EXPECT_NE(failed.message().find("0000:45:00.0"), std::string::npos) << failed.message();
}

struct KnownLink {
  std::uint64_t kind;
  std::uint64_t hops;
  std::uint64_t weight;
  std::uint64_t least;
  std::uint64_t most;
  bool operator==(const KnownLink&) const = default;
};

// As the worker begins it, for devices that HIP knows nothing special of.
KnownLink link_of(Runtime& runtime, const char* from, const char* to) {
  Link link;
  link.kind = static_cast<std::uint64_t>(LinkKind::kPcie);
  link.hops = link.weight = link.bandwidth_least_mb_per_s = link.bandwidth_most_mb_per_s = kUnknown;
  EXPECT_TRUE(runtime.find_link({from, ""}, {to, ""}, link).is_ok());
  return {link.kind, link.hops, link.weight, link.bandwidth_least_mb_per_s, link.bandwidth_most_mb_per_s};
}

TEST(Nvidia, LinksHaveTheWeightsOfAmdsOfTheirKind) {
  Result<std::unique_ptr<Runtime>> nvidia = NvidiaRuntime::open(TF_FAKE_NVML);
  ASSERT_TRUE(nvidia);
  constexpr auto kPcie = static_cast<std::uint64_t>(LinkKind::kPcie);
  constexpr auto kNvlink = static_cast<std::uint64_t>(LinkKind::kNvlink);
  EXPECT_EQ(link_of(**nvidia, "0000:41:00.0", "0000:42:00.0"),
            (KnownLink{kNvlink, 1, 15, kUnknown, kUnknown}));
  EXPECT_EQ(link_of(**nvidia, "0000:41:00.0", "0000:43:00.0"), (KnownLink{kPcie, 2, 40, kUnknown, kUnknown}));
  EXPECT_EQ(link_of(**nvidia, "0000:44:00.0", "0000:41:00.0"), (KnownLink{kPcie, 3, 72, kUnknown, kUnknown}));
  Link link;
  EXPECT_EQ((*nvidia)->find_link({"0000:41:00.0", ""}, {"0000:45:00.0", ""}, link).code(),
            Code::kUnavailable);
}

TEST(Amd, LinksAreAsTheLibrarySaysIt) {
  Result<std::unique_ptr<Runtime>> amd = AmdRuntime::open(TF_FAKE_ROCM_SMI);
  ASSERT_TRUE(amd);
  constexpr auto kPcie = static_cast<std::uint64_t>(LinkKind::kPcie);
  constexpr auto kXgmi = static_cast<std::uint64_t>(LinkKind::kXgmi);
  EXPECT_EQ(link_of(**amd, "0000:03:00.0", "0000:83:00.0"), (KnownLink{kXgmi, 1, 15, 50'000, 100'000}));
  EXPECT_EQ(link_of(**amd, "0000:83:00.0", "0000:03:00.0"), (KnownLink{kPcie, 2, 40, kUnknown, kUnknown}));
  Link link;
  EXPECT_EQ((*amd)->find_link({"0000:03:00.0", ""}, {"0000:04:00.0", ""}, link).code(), Code::kUnavailable);
}

TEST(Amd, ValuesOfTheDeviceAtThisAddress) {
  Result<std::unique_ptr<Runtime>> amd = AmdRuntime::open(TF_FAKE_ROCM_SMI);
  ASSERT_TRUE(amd) << amd.status().to_string();
  tf::smi::Sample sample = tf::smi::unknown_sample();
  ASSERT_TRUE((*amd)->sample({"0000:83:00.0", "gfx942"}, sample).is_ok());
  EXPECT_EQ(sample.core_busy_percent, 11u);
  EXPECT_EQ(sample.memory_used_bytes, 4096u);
  EXPECT_EQ(sample.host_memory_used_bytes, 512u);
  EXPECT_EQ(sample.edge_temperature_mc, kUnknown);
  EXPECT_EQ(sample.hotspot_temperature_mc, 40'001u);
  EXPECT_EQ(sample.critical_temperature_mc, 100'000u);
  EXPECT_EQ(sample.power_uw, 150'000'000u) << "the average, where there is no current one";
  EXPECT_EQ(sample.energy_uj, 15'250u);
  EXPECT_EQ(sample.core_clock_hz, 1'500'000'000u);
  EXPECT_EQ(sample.memory_clock_hz, kUnknown);
  EXPECT_EQ(sample.fan_rpm, kUnknown) << "a function that this library lacks";
}

// Debian 12 calls ROCm 5.2's library .so.1, Debian 13 ROCm 6's.
TEST(Amd, ListsOfFrequenciesGoByWhatTheLibraryHasNotByItsName) {
  for (const char* const file : {TF_FAKE_ROCM_SMI_5_1, TF_FAKE_ROCM_SMI_6_1}) {
    SCOPED_TRACE(file);
    Result<std::unique_ptr<Runtime>> amd = AmdRuntime::open(file);
    ASSERT_TRUE(amd) << amd.status().to_string();
    tf::smi::Sample sample = tf::smi::unknown_sample();
    ASSERT_TRUE((*amd)->sample({"0000:83:00.0", "gfx942"}, sample).is_ok());
    EXPECT_EQ(sample.core_clock_hz, 1'500'000'000u);
  }
}

TEST(Amd, FactsOfADevice) {
  Result<std::unique_ptr<Runtime>> amd = AmdRuntime::open(TF_FAKE_ROCM_SMI);
  ASSERT_TRUE(amd);
  tf::smi::Facts facts = tf::smi::unknown_facts();
  ASSERT_TRUE((*amd)->describe({"0000:03:00.0", "gfx942"}, facts).is_ok());
  EXPECT_EQ(facts.unique_id, 0xabc0u);
  EXPECT_EQ(facts.core_clock_least_hz, 132'000'000u);
  EXPECT_EQ(facts.core_clock_most_hz, 2'100'000'000u);
  EXPECT_EQ(facts.power_cap_most_uw, 750'000'000u);
  EXPECT_EQ(tf::smi::text_of(facts.firmware), "113-M3000100-103");
  EXPECT_EQ((*amd)->describe({"0000:04:00.0", "gfx942"}, facts).code(), Code::kUnavailable);
}

TEST(Vendors, ALibraryThatIsNotThereOrIsAnotherSaysSo) {
  EXPECT_EQ(NvidiaRuntime::open("/nowhere/libnvidia-ml.so").code(), Code::kUnavailable);
  EXPECT_EQ(AmdRuntime::open(TF_FAKE_NVML).code(), Code::kUnavailable);
  EXPECT_EQ(NvidiaRuntime::open("libm.so.6").code(), Code::kUnavailable);
}

TEST(Choice, AnUnknownNameIsRefused) {
  EXPECT_EQ(open_runtime("rocm", {}).code(), Code::kInvalidArgument);
  const Result<std::unique_ptr<Runtime>> host = open_runtime("auto", {"", "x86_64-cpu"});
  ASSERT_TRUE(host);
  EXPECT_EQ(host.value()->name(), "host");
}

}  // namespace
}  // namespace tf::smi
