// SPDX-License-Identifier: Apache-2.0
// When a copy may return, and when its memory may be touched: the rows of docs/copy-semantics.md, for every
// form of copy, kind of memory and stream, idle and busy. Nothing here depends on how long anything takes.
#include <algorithm>
#include <array>
#include <atomic>
#include <string>
#include <thread>

#include "tests/api/copy_forms.h"
#include "tests/api/kernels.h"

namespace tf::api_test {
namespace {

constexpr auto kUntouched = std::byte{0x11};
constexpr auto kOverwritten = std::byte{0xee};
constexpr std::size_t kLargeBytes = 1'300'000;

// The streams that a form can be given, or the one that it uses.
class Streams {
 public:
  std::vector<std::pair<const char*, hipStream_t>> of(const CopyForm& form) const {
    if (form.stream == CopyForm::Stream::kNull) return {{"null stream", nullptr}};
    if (form.stream == CopyForm::Stream::kPerThread) return {{"own stream", hipStreamPerThread}};
    return {{"null stream", nullptr},
            {"own stream", hipStreamPerThread},
            {"created stream", created_},
            {"non-blocking stream", unordered_}};
  }

 private:
  TestStream created_;
  TestStream unordered_{hipStreamNonBlocking};
};

// The device's end of a form's copies.
class DeviceEnd {
 public:
  DeviceEnd(const CopyForm& form, const Layout& layout) {
    if (form.end == CopyForm::End::kSymbol) {
      EXPECT_EQ(hipGetSymbolAddress(&memory_, block_symbol()), hipSuccess);
      return;
    }
    EXPECT_EQ(hipMalloc(&memory_, layout.device_bytes()), hipSuccess);
    owned_ = true;
    if (form.end != CopyForm::End::kArray) return;
    const hipChannelFormatDesc elements{32, 32, 32, 32, hipChannelFormatKindUnsigned};
    const hipExtent extent =
        make_hipExtent(layout.width / kElementBytes, form.geometry == Geometry::kLine ? 0 : layout.rows,
                       form.geometry == Geometry::kBox ? layout.slices : 0);
    EXPECT_EQ(hipMalloc3DArray(&array_, &elements, extent, hipArrayDefault), hipSuccess);
  }
  ~DeviceEnd() {
    if (array_ != nullptr) {
      EXPECT_EQ(hipFreeArray(array_), hipSuccess);
    }
    if (owned_) {
      EXPECT_EQ(hipFree(memory_), hipSuccess);
    }
  }
  DeviceEnd(const DeviceEnd&) = delete;
  DeviceEnd& operator=(const DeviceEnd&) = delete;

  std::byte* get() const { return static_cast<std::byte*>(memory_); }
  hipArray_t array() const { return array_; }

 private:
  void* memory_ = nullptr;
  hipArray_t array_ = nullptr;
  bool owned_ = false;
};

// Sets the device's end, in stream order.
hipError_t set_device(const Copy& copy, int value) {
  const Layout& layout = copy.layout;
  const hipError_t set = hipMemsetAsync(copy.device, value, layout.device_bytes(), copy.stream);
  if (set != hipSuccess || copy.array == nullptr) return set;
  hipMemcpy3DParms all{};
  all.srcPtr = make_hipPitchedPtr(copy.device, layout.device_pitch, layout.width, layout.rows);
  all.dstArray = copy.array;
  all.extent = make_hipExtent(layout.width / kElementBytes, layout.rows, layout.slices);
  all.kind = hipMemcpyDeviceToDevice;
  return hipMemcpy3DAsync(&all, copy.stream);
}

// What stands in the stream before the copy.
enum class Before { kNothing, kCallback, kKernel };
constexpr Before kBefore[] = {Before::kNothing, Before::kCallback, Before::kKernel};

void sleep_a_little(void*) { std::this_thread::sleep_for(std::chrono::milliseconds(1)); }

void keep_busy(Before before, hipStream_t stream, int* scratch) {
  if (before == Before::kCallback) {
    ASSERT_EQ(hipLaunchHostFunc(stream, sleep_a_little, nullptr), hipSuccess);
  }
  if (before == Before::kKernel) launch_slow_store(scratch, 1, stream);
}

// The copied bytes are `wanted`, the gaps are as they were.
testing::AssertionResult holds(const std::byte* host, const Layout& layout, std::byte wanted) {
  for (std::size_t at = 0; at < layout.host_bytes(); ++at) {
    const std::byte expected = layout.is_copied(at) ? wanted : kUntouched;
    if (host[at] != expected) return testing::AssertionFailure() << "byte " << at << " is " << int(host[at]);
  }
  return testing::AssertionSuccess();
}

hipError_t read_device(const Copy& copy, std::vector<std::byte>& back) {
  const Layout& layout = copy.layout;
  if (copy.array == nullptr) return hipMemcpy(back.data(), copy.device, back.size(), hipMemcpyDeviceToHost);
  hipMemcpy3DParms all{};
  all.srcArray = copy.array;
  all.dstPtr = make_hipPitchedPtr(back.data(), layout.device_pitch, layout.width, layout.rows);
  all.extent = make_hipExtent(layout.width / kElementBytes, layout.rows, layout.slices);
  all.kind = hipMemcpyDeviceToHost;
  return hipMemcpy3D(&all);
}

testing::AssertionResult device_holds(const Copy& copy, std::byte wanted) {
  const Layout& layout = copy.layout;
  std::vector<std::byte> back(layout.device_bytes());
  const hipError_t copied = read_device(copy, back);
  if (copied != hipSuccess) return testing::AssertionFailure() << hipGetErrorName(copied);
  for (std::size_t at = 0; at < back.size(); ++at) {
    if (at % layout.device_pitch < layout.width && back[at] != wanted)
      return testing::AssertionFailure() << "byte " << at << " is " << int(back[at]);
  }
  return testing::AssertionSuccess();
}

class CopySemantics : public ::testing::TestWithParam<std::size_t> {
 protected:
  const CopyForm& form() const { return copy_forms()[GetParam()]; }
  bool is_array() const { return form().end == CopyForm::End::kArray; }
  std::vector<std::size_t> sizes() const {
    if (form().end == CopyForm::End::kSymbol) return {600, 50'000};
    // GPUs have one-dimensional arrays of 16384 elements.
    if (is_array() && form().geometry == Geometry::kLine) return {600, 50'000, 250'000};
    return {600, 50'000, kLargeBytes};
  }

  // Every case in which the host's end is the program's again on return: pageable memory whatever the form,
  // any memory if it waits; on every stream, idle and busy. make(copy, before, value) gets the copy to make,
  // but for its direction, and a value that no case before it had.
  template <typename Make>
  void for_each_case_done_on_return(Make make) {
    const Streams streams;
    int value = 0;
    for (const std::size_t bytes : sizes()) {
      const Layout layout = layout_of(form().geometry, bytes, is_array());
      const DeviceEnd device(form(), layout);
      for (const Memory memory : kMemories) {
        if (!form().waits && memory != Memory::kPageable) continue;
        const HostBlock host(memory, layout.host_bytes());
        for (const auto& [name, stream] : streams.of(form())) {
          for (const Before before : kBefore) {
            SCOPED_TRACE(std::string(name_of(memory)) + ", " + name + ", " + std::to_string(bytes) +
                         " bytes, behind " + std::to_string(static_cast<int>(before)));
            value = value % 200 + 20;
            make(Copy{Direction::kToDevice, device.get(), host.get(), layout, stream, device.array()}, before,
                 value);
            if (HasFatalFailure()) return;
          }
        }
      }
    }
  }
};

// D2H, where the target must be there on return.
TEST_P(CopySemantics, TheTargetHoldsTheBytesOnReturn) {
  DeviceBuffer scratch(sizeof(int));
  for_each_case_done_on_return([&](Copy copy, Before before, int value) {
    copy.direction = Direction::kFromDevice;
    std::fill_n(copy.host, copy.layout.host_bytes(), kUntouched);
    HIP_OK(set_device(copy, 1));
    HIP_OK(hipStreamSynchronize(copy.stream));
    keep_busy(before, copy.stream, scratch.get<int>());
    HIP_OK(set_device(copy, value));
    HIP_OK(form().make(copy));
    ASSERT_TRUE(holds(copy.host, copy.layout, std::byte(value)));
  });
}

// H2D, where the source is the program's again on return.
TEST_P(CopySemantics, TheSourceMayChangeOnReturn) {
  DeviceBuffer scratch(sizeof(int));
  for_each_case_done_on_return([&](const Copy& copy, Before before, int value) {
    std::fill_n(copy.host, copy.layout.host_bytes(), std::byte(value));
    keep_busy(before, copy.stream, scratch.get<int>());
    HIP_OK(set_device(copy, 1));
    HIP_OK(form().make(copy));
    std::fill_n(copy.host, copy.layout.host_bytes(), kOverwritten);
    HIP_OK(hipStreamSynchronize(copy.stream));
    ASSERT_TRUE(device_holds(copy, std::byte(value)));
  });
}

// Asynchronous forms and memory that is not pageable: the call returns while the stream stands still.
TEST_P(CopySemantics, MemoryThatIsNotPageableDoesNotHoldTheCall) {
  if (form().waits) return;  // has no such row
  const Streams streams;
  for (const std::size_t bytes : sizes()) {
    const Layout layout = layout_of(form().geometry, bytes, is_array());
    const DeviceEnd device(form(), layout);
    for (const Memory memory : kMemories) {
      if (memory == Memory::kPageable) continue;
      const HostBlock host(memory, layout.host_bytes());
      for (const auto& [name, stream] : streams.of(form())) {
        SCOPED_TRACE(std::string(name_of(memory)) + ", " + name + ", " + std::to_string(bytes) + " bytes");
        std::fill_n(host.get(), layout.host_bytes(), kUntouched);
        HIP_OK(hipDeviceSynchronize());
        Gate down;
        down.close(stream);
        Copy copy{Direction::kFromDevice, device.get(), host.get(), layout, stream, device.array()};
        HIP_OK(set_device(copy, 77));
        HIP_OK(form().make(copy));
        ASSERT_EQ(hipStreamQuery(stream), hipErrorNotReady) << "the call has waited for its stream";
        (void)hipGetLastError();
        down.open();
        HIP_OK(hipStreamSynchronize(stream));
        ASSERT_TRUE(holds(host.get(), layout, std::byte{77}));

        std::fill_n(host.get(), layout.host_bytes(), std::byte{88});
        Gate up;
        up.close(stream);
        copy.direction = Direction::kToDevice;
        HIP_OK(set_device(copy, 1));
        HIP_OK(form().make(copy));
        ASSERT_EQ(hipStreamQuery(stream), hipErrorNotReady) << "the call has waited for its stream";
        (void)hipGetLastError();
        up.open();
        HIP_OK(hipStreamSynchronize(stream));
        ASSERT_TRUE(device_holds(copy, std::byte{88}));
      }
    }
  }
}

std::string test_name(const ::testing::TestParamInfo<std::size_t>& info) {
  std::string name = copy_forms()[info.param].name;
  std::replace_if(
      name.begin(), name.end(), [](char c) { return c == ' ' || c == ','; }, '_');
  return name;
}

INSTANTIATE_TEST_SUITE_P(Forms, CopySemantics, ::testing::Range(std::size_t{0}, copy_forms().size()),
                         test_name);

// --- on the device -------------------------------------------------------------------------------------

// No end is the host's: asynchronous forms never wait, and no form is done before the work in front of it.
TEST(CopySemanticsOnDevice, KeepsTheOrderOfTheStream) {
  constexpr std::size_t kBytes = 200'000;
  DeviceBuffer from(kBytes);
  DeviceBuffer to(kBytes);
  TestStream stream;
  const auto check = [&](int value) {
    std::vector<std::byte> back(kBytes);
    ASSERT_EQ(hipMemcpy(back.data(), to.get(), kBytes, hipMemcpyDeviceToHost), hipSuccess);
    EXPECT_EQ(std::count(back.begin(), back.end(), std::byte(value)), kBytes);
  };
  const std::array<hipError_t (*)(void*, const void*, hipStream_t), 5> kAsync{
      [](void* t, const void* s, hipStream_t on) {
        return hipMemcpyAsync(t, s, kBytes, hipMemcpyDeviceToDevice, on);
      },
      [](void* t, const void* s, hipStream_t on) {
        return hipMemcpyAsync(t, s, kBytes, hipMemcpyDefault, on);
      },
      [](void* t, const void* s, hipStream_t on) {
        return hipMemcpyDtoDAsync(t, const_cast<void*>(s), kBytes, on);
      },
      [](void* t, const void* s, hipStream_t on) { return hipMemcpyPeerAsync(t, 0, s, 0, kBytes, on); },
      [](void* t, const void* s, hipStream_t on) {
        return hipMemcpy2DAsync(t, 200, s, 200, 200, kBytes / 200, hipMemcpyDeviceToDevice, on);
      }};
  int value = 1;
  for (const auto& copy : kAsync) {
    Gate gate;
    gate.close(stream);
    HIP_OK(hipMemsetAsync(from.get(), ++value, kBytes, stream));
    HIP_OK(copy(to.get(), from.get(), stream));
    EXPECT_EQ(hipStreamQuery(stream), hipErrorNotReady);
    (void)hipGetLastError();
    gate.open();
    HIP_OK(hipStreamSynchronize(stream));
    check(value);
  }
  const std::array<hipError_t (*)(void*, const void*), 4> kWaiting{
      [](void* t, const void* s) { return hipMemcpy(t, s, kBytes, hipMemcpyDeviceToDevice); },
      [](void* t, const void* s) { return hipMemcpyDtoD(t, const_cast<void*>(s), kBytes); },
      [](void* t, const void* s) { return hipMemcpyPeer(t, 0, s, 0, kBytes); },
      [](void* t, const void* s) {
        return hipMemcpy2D(t, 200, s, 200, 200, kBytes / 200, hipMemcpyDeviceToDevice);
      }};
  for (const auto& copy : kWaiting) {
    HIP_OK(hipLaunchHostFunc(nullptr, sleep_a_little, nullptr));
    HIP_OK(hipMemsetAsync(from.get(), ++value, kBytes, nullptr));
    HIP_OK(copy(to.get(), from.get()));
    check(value);
  }
}

// --- on the host ---------------------------------------------------------------------------------------

// The device's address of mapped host memory is its own: a program that copies "back" relies on the wait
// only.
TEST(CopySemanticsOnHost, ACopyOfMemoryToItselfWaits) {
  constexpr std::size_t kBytes = 4096;
  const PinnedBuffer pinned(kBytes);
  void* const memory = pinned.as<void>();
  for (const hipMemcpyKind kind : {hipMemcpyHostToHost, hipMemcpyDeviceToHost, hipMemcpyDefault}) {
    std::atomic<bool> ran{false};
    HIP_OK(hipLaunchHostFunc(nullptr, sleep_a_little, nullptr));
    HIP_OK(hipLaunchHostFunc(
        nullptr, [](void* flag) { *static_cast<std::atomic<bool>*>(flag) = true; }, &ran));
    HIP_OK(hipMemcpy(memory, memory, kBytes, kind));
    EXPECT_TRUE(ran) << kind;
    HIP_OK(hipDeviceSynchronize());
  }
}

// Whatever the memory, but managed memory, which is the device's as well.
TEST(CopySemanticsOnHost, ACopyIsDoneOnReturn) {
  constexpr std::size_t kBytes = 100'000;
  TestStream stream;
  for (const hipMemcpyKind kind : {hipMemcpyHostToHost, hipMemcpyDefault}) {
    for (const Memory to : kMemories) {
      for (const Memory from : kMemories) {
        SCOPED_TRACE(std::string(name_of(from)) + " to " + name_of(to));
        const HostBlock source(from, kBytes);
        const HostBlock target(to, kBytes);
        std::fill_n(source.get(), kBytes, std::byte{9});
        std::fill_n(target.get(), kBytes, kUntouched);
        HIP_OK(hipLaunchHostFunc(stream, sleep_a_little, nullptr));
        HIP_OK(hipMemcpyAsync(target.get(), source.get(), kBytes, kind, stream));
        if (to == Memory::kPageable || (to != Memory::kManaged && from != Memory::kManaged)) {
          ASSERT_EQ(std::count(target.get(), target.get() + kBytes, std::byte{9}), kBytes);
        }
        if (from == Memory::kPageable) std::fill_n(source.get(), kBytes, kOverwritten);
        HIP_OK(hipStreamSynchronize(stream));
        ASSERT_EQ(std::count(target.get(), target.get() + kBytes, std::byte{9}), kBytes);
      }
    }
  }
}

// --- graphs --------------------------------------------------------------------------------------------

// A launch returns while its stream stands still, unless a node writes pageable memory: then that holds the
// bytes on return.
TEST(CopySemanticsOfGraphs, ALaunchKeepsTheRule) {
  constexpr std::size_t kBytes = 60'000;
  const Layout box_layout = layout_of(Geometry::kBox, kBytes);
  for (const Memory memory : kMemories) {
    SCOPED_TRACE(name_of(memory));
    DeviceBuffer up(kBytes);
    DeviceBuffer box(box_layout.device_bytes());
    const HostBlock source(memory, kBytes);
    const HostBlock line_target(memory, kBytes);
    const HostBlock box_target(memory, box_layout.host_bytes());
    const HostBlock symbol_target(memory, kBytes);
    hipGraph_t graph = nullptr;
    HIP_OK(hipGraphCreate(&graph, 0));
    hipGraphNode_t nodes[5] = {};
    HIP_OK(hipGraphAddMemcpyNode1D(&nodes[0], graph, nullptr, 0, up.get(), source.get(), kBytes,
                                   hipMemcpyHostToDevice));
    HIP_OK(hipGraphAddMemcpyNodeToSymbol(&nodes[1], graph, nullptr, 0, block_symbol(), source.get(), kBytes,
                                         0, hipMemcpyHostToDevice));
    HIP_OK(hipGraphAddMemcpyNode1D(&nodes[2], graph, &nodes[0], 1, line_target.get(), up.get(), kBytes,
                                   hipMemcpyDeviceToHost));
    HIP_OK(hipGraphAddMemcpyNodeFromSymbol(&nodes[3], graph, &nodes[1], 1, symbol_target.get(),
                                           block_symbol(), kBytes, 0, hipMemcpyDeviceToHost));
    hipMemcpy3DParms down = {};
    const std::size_t rows = box_layout.rows;
    down.srcPtr = make_hipPitchedPtr(box.get(), box_layout.device_pitch, box_layout.width, rows);
    down.dstPtr = make_hipPitchedPtr(box_target.get(), box_layout.host_pitch, box_layout.width, rows);
    down.extent = make_hipExtent(box_layout.width, rows, box_layout.slices);
    down.kind = hipMemcpyDeviceToHost;
    HIP_OK(hipGraphAddMemcpyNode(&nodes[4], graph, nullptr, 0, &down));
    hipGraphExec_t exec = nullptr;
    HIP_OK(hipGraphInstantiate(&exec, graph, nullptr, nullptr, 0));
    TestStream stream;
    for (int round = 1; round <= 3; ++round) {
      std::fill_n(source.get(), kBytes, std::byte(round));
      for (const HostBlock* target : {&line_target, &symbol_target})
        std::fill_n(target->get(), kBytes, kUntouched);
      std::fill_n(box_target.get(), box_layout.host_bytes(), kUntouched);
      Gate gate;
      if (memory == Memory::kPageable) {
        HIP_OK(hipLaunchHostFunc(stream, sleep_a_little, nullptr));
      } else {
        gate.close(stream);
      }
      HIP_OK(hipMemsetAsync(box.get(), round + 100, box_layout.device_bytes(), stream));
      HIP_OK(hipGraphLaunch(exec, stream));
      if (memory != Memory::kPageable) {
        ASSERT_EQ(hipStreamQuery(stream), hipErrorNotReady) << "the launch has waited for its stream";
        (void)hipGetLastError();
        gate.open();
        HIP_OK(hipStreamSynchronize(stream));
      }
      for (const HostBlock* target : {&line_target, &symbol_target})
        ASSERT_EQ(std::count(target->get(), target->get() + kBytes, std::byte(round)), kBytes);
      ASSERT_TRUE(holds(box_target.get(), box_layout, std::byte(round + 100)));
    }
    HIP_OK(hipGraphExecDestroy(exec));
    HIP_OK(hipGraphDestroy(graph));
  }
}

}  // namespace
}  // namespace tf::api_test
