// SPDX-License-Identifier: Apache-2.0
// GPUs as the provider sees them, on a stand-in for librocm_smi64 and a folder in place of the kernel's.
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "provider/devices.h"
#include "smi/runtime/kfd.h"

namespace tf::provider {
namespace {

namespace fs = std::filesystem;

class GpusTest : public testing::Test {
 protected:
  GpusTest() {
    write("etc/machine-id", "0123456789abcdef0123456789abcdef\n");
    node(0, "simd_count 0\n");  // a processor
    node(1,
         "simd_count 1216\nsimd_per_cu 4\ngfx_target_version 90402\nlocation_id 768\ndomain 0\n"
         "max_engine_clk_fcompute 2100\ndrm_render_minor 128\nunique_id 13907115649320091\n");
    write(nodes() + "1/mem_banks/0/properties", "heap_type 1\nsize_in_bytes 206141652992\n");
    write(nodes() + "1/mem_banks/1/properties", "heap_type 0\nsize_in_bytes 99\n");
    write(nodes() + "1/io_links/0/properties", "type 2\nnode_to 0\n");
    write(nodes() + "1/io_links/1/properties", "type 11\nnode_to 2\n");
    node(2,
         "simd_count 240\nsimd_per_cu 4\ngfx_target_version 90010\nlocation_id 33536\ndomain 0\nunique_id "
         "0\n");
  }
  ~GpusTest() override { fs::remove_all(root_); }

  static std::string nodes() { return "sys/class/kfd/kfd/topology/nodes/"; }
  void node(int number, const std::string& text) {
    write(nodes() + std::to_string(number) + "/properties", text);
  }
  void write(const std::string& file, const std::string& text) {
    fs::create_directories((root_ / file).parent_path());
    std::ofstream(root_ / file) << text;
  }

  const fs::path root_ = fs::temp_directory_path() / ("gpus_test." + std::to_string(::getpid()));
};

TEST_F(GpusTest, TheKernelKnowsShapesAndLinks) {
  const std::vector<smi::KfdGpu> gpus = smi::read_kfd(root_);
  ASSERT_EQ(gpus.size(), 2u);
  EXPECT_EQ(gpus[0].pci, "0000:03:00.0");
  EXPECT_EQ(gpus[0].architecture, "gfx942");
  EXPECT_EQ(gpus[0].compute_units, 304u);
  EXPECT_EQ(gpus[0].memory_bytes, 206141652992u) << "its own banks only";
  EXPECT_EQ(gpus[0].xgmi, std::vector<std::uint64_t>{2});
  EXPECT_EQ(gpus[1].pci, "0000:83:00.0");
  EXPECT_EQ(gpus[1].architecture, "gfx90a");
}

TEST_F(GpusTest, DevicesAreNamedAsRocrNamesThem) {
  Result<std::unique_ptr<Source>> source = open_gpus(TF_FAKE_ROCM_SMI, root_.string());
  ASSERT_TRUE(source) << source.status().message();
  const std::vector<Device>& devices = (*source)->devices();
  ASSERT_EQ(devices.size(), 2u);
  EXPECT_EQ(devices[0].uuid, "GPU-00316872b020c49b");
  EXPECT_EQ(devices[0].visible, devices[0].uuid);
  EXPECT_EQ(devices[0].vendor, "AMD");
  EXPECT_EQ(devices[0].node, "/dev/dri/renderD128");
  EXPECT_EQ(devices[0].compute_units, 304u);
  EXPECT_NEAR(devices[0].tflops, 1307, 1) << "the data sheet of the MI300X, fp16";
  EXPECT_FALSE(devices[0].simulated);
  EXPECT_EQ(devices[0].linked, std::vector<std::uint64_t>{devices[1].number});
  EXPECT_EQ(devices[1].uuid, "GPU-000000000000abc1") << "where the kernel has no number, the library's";
}

TEST_F(GpusTest, StatesAndProcessesAreTheLibrarys) {
  Result<std::unique_ptr<Source>> source = open_gpus(TF_FAKE_ROCM_SMI, root_.string());
  ASSERT_TRUE(source);
  const std::vector<Device>& devices = (*source)->devices();
  smi::Sample sample = smi::unknown_sample();
  ASSERT_TRUE((*source)->sample(devices[1], sample).is_ok());
  EXPECT_EQ(sample.power_uw, 150'000'000u);
  const std::vector<smi::Process> processes = (*source)->processes(devices[1]);
  ASSERT_EQ(processes.size(), 1u);
  EXPECT_EQ(processes[0].pid, 4711u);
  EXPECT_EQ(processes[0].memory_bytes, 1u << 30);
  EXPECT_EQ(processes[0].compute_percent, 25u);
  EXPECT_TRUE((*source)->processes(devices[0]).empty());
}

TEST_F(GpusTest, WithoutTheLibraryThereAreNone) {
  EXPECT_FALSE(open_gpus("/nowhere/librocm_smi64.so", root_.string()));
}

TEST(Simulated, NamesHaveToBeLegal) {
  for (const char* const name : {"", "A", "a_b", "-a", "a-", "a.b", "a/b"})
    EXPECT_EQ(open_simulated(name).code(), Code::kInvalidArgument) << name;
  EXPECT_EQ(open_simulated(std::string(41, 'a')).code(), Code::kInvalidArgument);
}

}  // namespace
}  // namespace tf::provider
