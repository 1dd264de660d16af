// SPDX-License-Identifier: Apache-2.0
// Building, changing and running executable graphs. Executor thread.
#include "worker/gen/custom.h"
#include "worker/session/call.h"

namespace tf::worker::custom {
namespace {

template <typename Request>
void add_node(Call& call, const Request& request) {
  if (!call.use_device()) return;
  call.session().graphs.add(request, call.tail());
  call.finish(hipSuccess);  // what is wrong is said when the graph is complete
}

// AMD's runtime from 6.x on prepares a graph's kernels on the current device, and crashes where they are of
// another one. 7.2 fills with a kernel of the current device. Negative: any device will do.
void use_for(Call& call, std::uint64_t build, int device) {
  if (device < 0) return;
  const hipError_t error = call.session().device.use(device);
  if (error != hipSuccess) call.session().graphs.fail(build, error);
}

}  // namespace

void build_graph(Call& call, const protocol::BuildGraphRequest& request) {
  if (!call.use_device()) return;
  call.session().graphs.begin(request.exec);
  call.finish(hipSuccess);
}

// AMD's runtime looks for the function on the current device, and crashes where it is of another one.
void build_kernel_node(Call& call, const protocol::BuildKernelNodeRequest& request) {
  if (!call.use_device()) return;
  SessionState& session = call.session();
  const Object* const function = session.objects.find(protocol::HandleKind::kFunction, request.function);
  use_for(call, request.exec, function != nullptr ? function->device : -1);
  session.graphs.add(request, call.tail());
  call.finish(hipSuccess);
}

void build_fill_node(Call& call, const protocol::BuildFillNodeRequest& request) {
  if (!call.use_device()) return;
  SessionState& session = call.session();
  const AddressMap::Range* const range = session.addresses.find(request.target, 0);
  const bool of_a_device = range != nullptr && !session.host_parts.holds(request.target, 1);
  use_for(call, request.exec, of_a_device ? range->device : -1);
  session.graphs.add(request, call.tail());
  call.finish(hipSuccess);
}

void build_copy_node(Call& call, const protocol::BuildCopyNodeRequest& request) { add_node(call, request); }

void build_empty_node(Call& call, const protocol::BuildEmptyNodeRequest& request) { add_node(call, request); }

void instantiate_graph(Call& call, const protocol::InstantiateGraphRequest& request) {
  if (!call.use_device()) return;
  SessionState& session = call.session();
  const int device = session.device.get();
  use_for(call, request.exec, session.graphs.device_of(request.exec));
  call.reply(session.graphs.instantiate(request.exec, device));
}

void update_graph(Call& call, const protocol::UpdateGraphRequest& request) {
  if (!call.use_device()) return;
  SessionState& session = call.session();
  use_for(call, request.built, session.graphs.device_of(request.built));
  call.reply(session.graphs.update(request.exec, request.built));
}

void launch_graph(Call& call, const protocol::LaunchGraphRequest& request) {
  if (!call.use_device()) return;
  hipStream_t stream = nullptr;
  int device = 0;
  if (!call.session().streams.find(request.stream, stream, device))
    return call.finish(hipErrorInvalidHandle, request.stream);
  const ExecutionScope executed(call.session().executions, call.header(), stream, device, request.stream,
                                request.exec);
  call.finish(call.session().graphs.launch(request.exec, stream), request.stream);
}

void destroy_graph(Call& call, const protocol::DestroyGraphRequest& request) {
  if (!call.use_device()) return;
  call.finish(call.session().graphs.destroy(request.exec));
}

}  // namespace tf::worker::custom
