// SPDX-License-Identifier: Apache-2.0
// What a program sees of limits: how much of everything it gets, and what the call says that gets no more.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "tests/faults/scenarios.h"

extern "C" const char kernel_image[];  // client.cc

namespace faults {
namespace {

void await_line() {
  for (int letter = 0; letter != '\n' && letter != EOF;) letter = std::getchar();
}

hipError_t take_array(std::size_t bytes) {
  constexpr std::size_t kRow = 16384;  // floats
  const hipChannelFormatDesc format{32, 0, 0, 0, hipChannelFormatKindFloat};
  hipArray_t array = nullptr;
  return hipMallocArray(&array, &format, kRow, bytes / (kRow * sizeof(float)), hipArrayDefault);
}

// The node that allocates is captured.
hipError_t take_in_graph(std::size_t bytes) {
  hipStream_t stream = nullptr;
  hipGraph_t graph = nullptr;
  hipGraphExec_t exec = nullptr;
  void* memory = nullptr;
  hipError_t error = hipStreamCreate(&stream);
  if (error == hipSuccess) error = hipStreamBeginCapture(stream, hipStreamCaptureModeGlobal);
  if (error == hipSuccess) error = hipMallocAsync(&memory, bytes, stream);
  const hipError_t ended = hipStreamEndCapture(stream, &graph);
  if (error == hipSuccess) error = ended;
  if (error == hipSuccess) error = hipGraphInstantiate(&exec, graph, nullptr, nullptr, 0);
  if (error == hipSuccess) error = hipGraphLaunch(exec, stream);
  return error == hipSuccess ? hipStreamSynchronize(stream) : error;
}

hipError_t take_physical(std::size_t bytes) {
  hipMemAllocationProp wish{};
  wish.type = hipMemAllocationTypePinned;
  wish.location.type = hipMemLocationTypeDevice;
  hipMemGenericAllocationHandle_t memory{};
  return hipMemCreate(&memory, bytes, &wish, 0);
}

hipError_t take(std::string_view form, std::size_t bytes) {
  void* memory = nullptr;
  std::size_t pitch = 0;
  if (form == "malloc") return hipMalloc(&memory, bytes);
  if (form == "pitch") return hipMallocPitch(&memory, &pitch, 65536, bytes / 65536);
  if (form == "async") return hipMallocAsync(&memory, bytes, nullptr);
  if (form == "managed") return hipMallocManaged(&memory, bytes, hipMemAttachGlobal);
  if (form == "host") {  // devices reach it from its first use on
    const hipError_t error = hipHostMalloc(&memory, bytes, hipHostMallocDefault);
    return error == hipSuccess ? hipMemset(memory, 0, bytes) : error;
  }
  if (form == "array") return take_array(bytes);
  if (form == "graph") return take_in_graph(bytes);
  if (form == "physical") return take_physical(bytes);
  return hipErrorUnknown;
}

// On the null stream; the grid has work for every core.
hipError_t find_kernel(hipFunction_t& function) {
  hipModule_t module = nullptr;
  const hipError_t error = hipModuleLoadData(&module, kernel_image);
  return error == hipSuccess ? hipModuleGetFunction(&function, module, "run_for") : error;
}

hipError_t run_for(hipFunction_t function, unsigned blocks, long microseconds) {
  constexpr long long kTicksPerUs = 100;  // of wall_clock64()
  long long ticks = microseconds * kTicksPerUs;
  void* arguments[] = {&ticks};
  return hipModuleLaunchKernel(function, blocks, 1, 1, 1, 1, 1, 0, nullptr, arguments, nullptr);
}

}  // namespace

int fill_queue() {
  hipFunction_t function = nullptr;
  if (find_kernel(function) != hipSuccess) return 3;
  for (long round = 0;; ++round) {
    if (round == 4) say("filling");
    if (const hipError_t error = run_for(function, 64, 1000); error != hipSuccess) return report_loss(error);
  }
}

int measure_latency(long count) {
  hipFunction_t function = nullptr;
  if (find_kernel(function) != hipSuccess) return 3;
  std::vector<long> took;
  for (long round = -10; round < count; ++round) {
    const auto start = Clock::now();
    hipError_t error = run_for(function, 1, 1);
    if (error == hipSuccess) error = hipDeviceSynchronize();
    if (error != hipSuccess) return report_loss(error);
    if (round >= 0)
      took.push_back(std::chrono::duration_cast<std::chrono::microseconds>(Clock::now() - start).count());
    std::this_thread::sleep_for(std::chrono::microseconds(500));
  }
  std::sort(took.begin(), took.end());
  say("latency_us", took[took.size() / 2], took[took.size() * 99 / 100]);
  return 0;
}

int take_memory(const char* form, std::size_t bytes) {
  say("memory", take(form, bytes));
  await_line();
  std::size_t free_bytes = 0;
  std::size_t total_bytes = 0;
  const hipError_t error = hipMemGetInfo(&free_bytes, &total_bytes);
  say("free", error, static_cast<long>(free_bytes));
  return 0;
}

int tell_devices() {
  int count = -1;
  const hipError_t error = hipGetDeviceCount(&count);
  say("devices", error, count);
  for (int device = 0; device < count; ++device) {
    hipDeviceProp_t properties;
    std::size_t free_bytes = 0;
    std::size_t total = 0;
    if (hipSetDevice(device) != hipSuccess || hipGetDeviceProperties(&properties, device) != hipSuccess ||
        hipMemGetInfo(&free_bytes, &total) != hipSuccess)
      return 3;
    say("device", device, properties.pciBusID);
    say("total", static_cast<long>(properties.totalGlobalMem), static_cast<long>(total));
    say("free", static_cast<long>(free_bytes));
  }
  await_line();
  return 0;
}

int make_streams(long wanted) {
  std::vector<hipStream_t> streams;
  hipError_t error = hipSuccess;
  while (static_cast<long>(streams.size()) < wanted && error == hipSuccess) {
    hipStream_t stream = nullptr;
    error = hipStreamCreateWithFlags(&stream, hipStreamNonBlocking);
    if (error == hipSuccess) streams.push_back(stream);
  }
  say("streams", static_cast<long>(streams.size()), error);
  say("after", hipDeviceSynchronize(), hipGetLastError());
  await_line();
  if (!streams.empty()) {
    hipStream_t stream = nullptr;
    const hipError_t destroyed = hipStreamDestroy(streams.back());
    const hipError_t synchronized = hipDeviceSynchronize();
    say("again", destroyed == hipSuccess ? synchronized : destroyed, hipStreamCreate(&stream));
  }
  await_line();
  return 0;
}

}  // namespace faults
