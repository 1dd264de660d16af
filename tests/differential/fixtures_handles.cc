// SPDX-License-Identifier: Apache-2.0
// Streams, events, modules, functions, pools, contexts, and what names them.
#include "tests/differential/case.h"

namespace tf::differential {
namespace {

hipStream_t new_stream(Case& c) {
  hipStream_t stream = nullptr;
  c.check(c.api("hipStreamCreate", &stream), "hipStreamCreate");
  return stream;
}
Value capturing(Case& c) {
  const hipStream_t stream = new_stream(c);
  // Relaxed: other fixtures allocate memory after it.
  c.check(c.api("hipStreamBeginCapture", stream, hipStreamCaptureModeRelaxed), "hipStreamBeginCapture");
  c.after([&api = c.api, stream] {
    hipGraph_t graph = nullptr;
    if (api("hipStreamEndCapture", stream, &graph) == hipSuccess) api.quietly("hipGraphDestroy", graph);
    api.quietly("hipStreamDestroy", stream);
  });
  return pointer(stream);
}
hipEvent_t new_event(Case& c, unsigned flags = 0) {
  hipEvent_t event = nullptr;
  c.check(c.api("hipEventCreateWithFlags", &event, flags), "hipEventCreateWithFlags");
  return event;
}
Value recorded(Case& c) {
  const hipEvent_t event = new_event(c);
  c.check(c.api("hipEventRecord", event, hipStream_t{}), "hipEventRecord");
  c.check(c.api("hipEventSynchronize", event), "hipEventSynchronize");
  return ended(c, event, "hipEventDestroy");
}
Value captured(Case& c) {
  const hipEvent_t event = new_event(c);
  c.check(c.api("hipEventRecord", event, c.handle<hipStream_t>("stream_capturing")), "hipEventRecord");
  return ended(c, event, "hipEventDestroy");
}
hipModule_t new_module(Case& c) {
  hipModule_t module = nullptr;
  c.check(c.api("hipModuleLoad", &module, kKernelFile), "hipModuleLoad");
  return module;
}
hipFunction_t function_of(Case& c, hipModule_t module) {
  hipFunction_t function = nullptr;
  c.check(c.api("hipModuleGetFunction", &function, module, "fill"), "hipModuleGetFunction");
  return function;
}
Value function_destroyed(Case& c) {
  const hipModule_t module = new_module(c);
  const hipFunction_t function = function_of(c, module);
  c.check(c.api("hipModuleUnload", module), "hipModuleUnload");
  return pointer(function);
}
hipMemPool_t new_pool(Case& c) {
  hipMemPool_t pool = nullptr;
  c.check(c.api("hipMemPoolCreate", &pool, c.handle<hipMemPoolProps*>("pool_properties")),
          "hipMemPoolCreate");
  return pool;
}
Value default_pool(Case& c) {
  hipMemPool_t pool = nullptr;
  c.check(c.api("hipDeviceGetDefaultMemPool", &pool, 0), "hipDeviceGetDefaultMemPool");
  return pointer(pool);
}
Value arguments(Case& c) {
  struct Three {
    void* out;
    int value, count;
    void* pointers[3];
  };
  Three* const three = c.keep<Three>();
  three->out = c.handle<void*>("device");
  three->value = 3;
  three->count = 16;
  three->pointers[0] = &three->out;
  three->pointers[1] = &three->value;
  three->pointers[2] = &three->count;
  return pointer(three->pointers);
}
void callback(void*) {}

}  // namespace

void add_handles(Fixtures& all) {
  all["stream"] = [](Case& c) { return ended(c, new_stream(c), "hipStreamDestroy"); };
  all["stream_destroyed"] = [](Case& c) { return gone(c, new_stream(c), "hipStreamDestroy"); };
  all["stream_capturing"] = capturing;
  all["event"] = [](Case& c) { return ended(c, new_event(c), "hipEventDestroy"); };
  all["event_destroyed"] = [](Case& c) { return gone(c, new_event(c), "hipEventDestroy"); };
  all["event_untimed"] = [](Case& c) {
    return ended(c, new_event(c, hipEventDisableTiming), "hipEventDestroy");
  };
  all["event_shared"] = [](Case& c) {
    return ended(c, new_event(c, hipEventDisableTiming | hipEventInterprocess), "hipEventDestroy");
  };
  all["event_recorded"] = recorded;
  all["event_captured"] = captured;
  all["module"] = [](Case& c) { return ended(c, new_module(c), "hipModuleUnload"); };
  all["module_destroyed"] = [](Case& c) { return gone(c, new_module(c), "hipModuleUnload"); };
  all["function"] = [](Case& c) { return pointer(function_of(c, c.handle<hipModule_t>("module"))); };
  all["function_destroyed"] = function_destroyed;
  all["pool"] = [](Case& c) { return ended(c, new_pool(c), "hipMemPoolDestroy"); };
  all["pool_destroyed"] = [](Case& c) { return gone(c, new_pool(c), "hipMemPoolDestroy"); };
  all["pool_default"] = default_pool;
  all["arguments"] = arguments;
  all["callback"] = [](Case&) { return number(reinterpret_cast<std::uintptr_t>(&callback)); };
  all["text_kernel"] = [](Case&) { return pointer("fill"); };
  all["text_global"] = [](Case&) { return pointer("module_counter"); };
  all["text_empty"] = [](Case&) { return pointer(""); };
  all["text_nobody"] = [](Case&) { return pointer("nobody"); };
  all["text_no_folder"] = [](Case&) { return pointer("/nowhere/file"); };
  all["text_null_device"] = [](Case&) { return pointer("/dev/null"); };
  all["text_module"] = [](Case&) { return pointer(kKernelFile); };
  all["text_api"] = [](Case&) { return pointer("hipMalloc"); };
}

}  // namespace tf::differential
