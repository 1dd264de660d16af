// SPDX-License-Identifier: Apache-2.0
// Graphs, and running them. Everything but running is the graph library's.
#include "worker/runtime/common/api.h"
#include "worker/runtime/common/graph_library.h"

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

#include "hipcore/graph/gen/functions.inc"

TF_EXPORT hipError_t hipGraphDebugDotPrint(hipGraph_t graph, const char* path, unsigned int) {
  return with_graphs([&](graph::Library& library) { return library.print(graph, path); });
}

hipError_t hipGraphLaunch(hipGraphExec_t exec, hipStream_t handle) {
  return with_graphs([&](graph::Library& library) -> hipError_t {
    Backend::Stream stream{};
    if (const hipError_t status = Backend::find_stream(handle, stream)) return status;
    return library.launch(
        exec, library.capturing() ? Backend::reference(stream) : Backend::short_reference(stream));
  });
}

TF_EXPORT hipError_t hipGraphUpload(hipGraphExec_t exec, hipStream_t handle) {
  return with_graphs([&](graph::Library& library) -> hipError_t {
    Backend::Stream stream{};
    if (const hipError_t status = Backend::find_stream(handle, stream)) return status;
    return library.upload(exec);
  });
}

}  // extern "C"
