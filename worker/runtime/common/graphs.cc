// SPDX-License-Identifier: Apache-2.0
// Graphs, and running them. Everything but running is the graph library's.
#include "hipcore/abi/layouts.h"
#include "worker/runtime/common/graph_library.h"
#include "worker/runtime/common/stream_frame.h"

namespace tf::runtime {
namespace {

template <typename Body>
hipError_t with_graphs(Body&& body) {
  return api([&]() -> hipError_t {
    if (const hipError_t status = Backend::require_device()) return status;
    return body(graphs());
  });
}

}  // namespace
}  // namespace tf::runtime

using namespace tf;
using namespace tf::runtime;

extern "C" {

// Exported, also what the vendor's headers do not declare.
#pragma GCC visibility push(default)
#include "hipcore/graph/gen/functions.inc"
#pragma GCC visibility pop

TF_EXPORT hipError_t hipGraphDebugDotPrint(hipGraph_t graph, const char* path, unsigned int) {
  return with_graphs([&](graph::Library& library) { return library.print(graph, path); });
}

hipError_t hipGraphLaunch(hipGraphExec_t exec, hipStream_t handle) {
  return with_stream(handle, [&](const Backend::Stream& stream) {
    return graphs().launch(exec, capturing() ? Backend::reference(stream) : Backend::short_reference(stream));
  });
}

TF_EXPORT hipError_t hipGraphUpload(hipGraphExec_t exec, hipStream_t handle) {
  return with_stream(handle, [&](const Backend::Stream&) { return graphs().upload(exec); });
}

}  // extern "C"
