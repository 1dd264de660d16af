// SPDX-License-Identifier: Apache-2.0
// Launches of every form, batches of stream operations, properties that a program wishes for.
#include "tests/differential/case.h"

namespace tf::differential {
namespace {

template <unsigned kX, unsigned kY, unsigned kZ>
Value grid(Case&) {
  return by_value(dim3(kX, kY, kZ));
}

Value launch_config(Case& c) {
  auto* const config = c.keep<hipLaunchConfig_t>();
  config->gridDim = config->blockDim = dim3(2, 1, 1);
  config->stream = c.handle<hipStream_t>("stream");
  return pointer(config);
}
Value driver_launch_config(Case& c) {
  auto* const config = c.keep<HIP_LAUNCH_CONFIG>();
  config->gridDimX = config->blockDimX = 2;
  config->gridDimY = config->gridDimZ = config->blockDimY = config->blockDimZ = 1;
  config->hStream = c.handle<hipStream_t>("stream");
  return pointer(config);
}
Value launches(Case& c) {
  auto* const launch = c.keep<hipLaunchParams>();
  launch->func = c.handle<void*>("stub");
  launch->gridDim = launch->blockDim = dim3(2, 1, 1);
  launch->args = c.handle<void**>("arguments");
  launch->stream = c.handle<hipStream_t>("stream");
  return pointer(launch);
}
Value function_launches(Case& c) {
  auto* const launch = c.keep<hipFunctionLaunchParams>();
  launch->function = c.handle<hipFunction_t>("function");
  launch->gridDimX = launch->blockDimX = 2;
  launch->gridDimY = launch->gridDimZ = launch->blockDimY = launch->blockDimZ = 1;
  launch->kernelParams = c.handle<void**>("arguments");
  launch->hStream = c.handle<hipStream_t>("stream");
  return pointer(launch);
}
// The arguments of fill() as one buffer.
Value extra(Case& c) {
  struct Buffer {
    void* out;
    int value, count;
    std::size_t bytes;
    void* list[5];
  };
  auto* const buffer = c.keep<Buffer>();
  buffer->out = c.handle<void*>("device");
  buffer->value = 3;
  buffer->count = 16;
  buffer->bytes = 16;
  void* const list[] = {HIP_LAUNCH_PARAM_BUFFER_POINTER, buffer, HIP_LAUNCH_PARAM_BUFFER_SIZE, &buffer->bytes,
                        HIP_LAUNCH_PARAM_END};
  std::memcpy(buffer->list, list, sizeof list);
  return pointer(buffer->list);
}

// A launch that is configured, for what takes the configuration.
void configure(Case& c) {
  c.check(c.api("hipConfigureCall", dim3(2, 1, 1), dim3(2, 1, 1), std::size_t{0}, hipStream_t{}),
          "hipConfigureCall");
}
Value stub_configured(Case& c) {
  configure(c);
  void** const arguments = c.handle<void**>("arguments");
  const std::size_t bytes[] = {8, 4, 4}, offsets[] = {0, 8, 12};
  for (int i = 0; i < 3; ++i)
    c.check(c.api("hipSetupArgument", static_cast<const void*>(arguments[i]), bytes[i], offsets[i]),
            "hipSetupArgument");
  return c.at("stub");
}

Value batch(Case& c) {
  auto* const operation = c.keep<hipStreamBatchMemOpParams>();
  operation->operation = hipStreamMemOpWriteValue32;
  operation->writeValue.address = c.handle<void*>("device");
  operation->writeValue.value = 5;
  return pointer(operation);
}
Value batch_odd(Case& c) {
  const Value made = batch(c);
  reinterpret_cast<hipStreamBatchMemOpParams*>(made.number)->operation = hipStreamMemOpBarrier;
  return made;
}

Value device_properties(Case& c) {
  void* const properties = c.block(4096);
  c.check(c.api("hipGetDeviceProperties", properties, 0), "hipGetDeviceProperties");
  return pointer(properties);
}
Value device_properties_newer(Case& c) {
  void* const properties = c.block(4096);
  c.check(c.api("hipGetDevicePropertiesR0600", properties, 0), "hipGetDevicePropertiesR0600");
  return pointer(properties);
}
Value text_bus(Case& c) {
  char* const text = static_cast<char*>(c.block(64));
  c.check(c.api("hipDeviceGetPCIBusId", text, 64, 0), "hipDeviceGetPCIBusId");
  return pointer(text);
}

}  // namespace

void add_launches(Fixtures& all) {
  all["dim3"] = grid<2, 1, 1>;
  all["dim3_zero"] = grid<0, 1, 1>;
  all["dim3_wide"] = grid<2048, 1, 1>;
  all["dim3_huge"] = grid<0xffffffffU, 0xffffffffU, 0xffffffffU>;
  all["launch_config"] = launch_config;
  all["driver_launch_config"] = driver_launch_config;
  all["launches"] = launches;
  all["function_launches"] = function_launches;
  all["extra"] = extra;
  all["stub_configured"] = stub_configured;
  // The largest size in a call that is not refused is 4097.
  all["words_configured"] = [](Case& c) { return configure(c), pointer(c.block(8192)); };
  all["out_configured"] = [](Case& c) { return configure(c), pointer(c.block(4096, 0xee)); };
  all["batch"] = batch;
  all["batch_odd"] = batch_odd;
  all["device_properties"] = device_properties;
  all["device_properties_newer"] = device_properties_newer;
  all["text_bus"] = text_bus;
}

}  // namespace tf::differential
