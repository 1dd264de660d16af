// SPDX-License-Identifier: Apache-2.0
// Graphs, nodes of each kind, executable graphs.
#include "tests/differential/case.h"

namespace tf::differential {
namespace {

hipGraph_t new_graph(Case& c) {
  hipGraph_t graph = nullptr;
  c.check(c.api("hipGraphCreate", &graph, 0U), "hipGraphCreate");
  return graph;
}
Value graph(Case& c) {
  const hipGraph_t graph = new_graph(c);
  c.after([&api = c.api, graph] { api.quietly("hipGraphDestroy", graph); });
  return pointer(graph);
}
Value graph_destroyed(Case& c) {
  const hipGraph_t graph = new_graph(c);
  c.check(c.api("hipGraphDestroy", graph), "hipGraphDestroy");
  return pointer(graph);
}
hipGraphExec_t new_exec(Case& c) {
  hipGraphExec_t exec = nullptr;
  c.check(c.api("hipGraphInstantiateWithFlags", &exec, c.handle<hipGraph_t>("graph"), 0ULL),
          "hipGraphInstantiateWithFlags");
  return exec;
}
Value exec(Case& c) {
  const hipGraphExec_t exec = new_exec(c);
  c.after([&api = c.api, exec] { api.quietly("hipGraphExecDestroy", exec); });
  return pointer(exec);
}
Value exec_destroyed(Case& c) {
  const hipGraphExec_t exec = new_exec(c);
  c.check(c.api("hipGraphExecDestroy", exec), "hipGraphExecDestroy");
  return pointer(exec);
}

constexpr const hipGraphNode_t* kNone = nullptr;

// A node in the case's graph, made by `function` with these parameters.
template <typename... Parameters>
Value node(Case& c, const char* function, Parameters... parameters) {
  hipGraphNode_t made = nullptr;
  c.check(c.api(function, &made, c.handle<hipGraph_t>("graph"), kNone, std::size_t{0}, parameters...),
          function);
  return pointer(made);
}
Value node_destroyed(Case& c) {
  const Value made = node(c, "hipGraphAddEmptyNode");
  c.check(c.api("hipGraphDestroyNode", reinterpret_cast<hipGraphNode_t>(made.number)), "hipGraphDestroyNode");
  return made;
}
Value node_of_destroyed(Case& c) {
  const hipGraph_t graph = new_graph(c);
  hipGraphNode_t made = nullptr;
  c.check(c.api("hipGraphAddEmptyNode", &made, graph, kNone, std::size_t{0}), "hipGraphAddEmptyNode");
  c.check(c.api("hipGraphDestroy", graph), "hipGraphDestroy");
  return pointer(made);
}
Value copy_node(Case& c) {
  return node(c, "hipGraphAddMemcpyNode", c.handle<const hipMemcpy3DParms*>("copy_3d"));
}
Value clone(Case& c) {
  c.at("node_fill");  // is in the graph, so that it has a twin
  hipGraph_t clone = nullptr;
  c.check(c.api("hipGraphClone", &clone, c.handle<hipGraph_t>("graph")), "hipGraphClone");
  return ended(c, clone, "hipGraphDestroy");
}

// Nodes of memory, of batches and of semaphores.
Value alloc_node(Case& c) {
  auto* const parameters = c.keep<hipMemAllocNodeParams>();
  parameters->poolProps.allocType = hipMemAllocationTypePinned;
  parameters->poolProps.location = {hipMemLocationTypeDevice, 0};
  parameters->bytesize = 4096;
  return pointer(parameters);
}
Value graph_memory(Case& c) {
  c.at("node_alloc");
  return pointer(c.handle<hipMemAllocNodeParams*>("alloc_node")->dptr);
}
Value batch_node(Case& c) {
  auto* const parameters = c.keep<hipBatchMemOpNodeParams>();
  parameters->ctx = c.handle<hipCtx_t>("ctx");
  parameters->count = 1;
  parameters->paramArray = c.handle<hipStreamBatchMemOpParams*>("batch");
  return pointer(parameters);
}
// Of no semaphore: none can be imported.
Value semaphore_node(Case& c) {
  auto* const parameters = c.keep<hipExternalSemaphoreSignalNodeParams>();
  parameters->extSemArray = c.keep<hipExternalSemaphore_t>();
  parameters->paramsArray = c.keep<hipExternalSemaphoreSignalParams>();
  return pointer(parameters);
}

// hipGraphNodeType: counted from 0 since 6.0, which is where these functions begin.
hipGraphNodeParams* any_node(Case& c, int type) {
  auto* const parameters = c.keep<hipGraphNodeParams>();
  parameters->type = type;
  return parameters;
}
Value any_node_fill(Case& c) {
  hipGraphNodeParams* const parameters = any_node(c, 2);
  parameters->memset = *c.handle<const hipMemsetParams*>("fill");
  return pointer(parameters);
}
Value any_node_copy(Case& c) {
  hipGraphNodeParams* const parameters = any_node(c, 1);
  parameters->memcpy.copyParams = *c.handle<const hipMemcpy3DParms*>("copy_3d");
  return pointer(parameters);
}
Value instantiate_odd(Case& c) {
  auto* const parameters = c.keep<hipGraphInstantiateParams>();
  parameters->flags = 99;
  return pointer(parameters);
}

void end_object(void*) {}
hipUserObject_t new_object(Case& c) {
  hipUserObject_t object = nullptr;
  void* const nothing = nullptr;
  c.check(c.api("hipUserObjectCreate", &object, nothing, hipHostFn_t{end_object}, 1U,
                unsigned{hipUserObjectNoDestructorSync}),
          "hipUserObjectCreate");
  return object;
}
Value user_object(Case& c) {
  const hipUserObject_t object = new_object(c);
  c.after([&api = c.api, object] { api.quietly("hipUserObjectRelease", object, 1U); });
  return pointer(object);
}
Value user_object_destroyed(Case& c) {
  const hipUserObject_t object = new_object(c);
  c.check(c.api("hipUserObjectRelease", object, 1U), "hipUserObjectRelease");
  return pointer(object);
}

// Copies that the functions for them can change.
Value copy_1d(Case& c) {
  return node(c, "hipGraphAddMemcpyNode1D", c.handle<void*>("device"), c.handle<const void*>("device_other"),
              std::size_t{64}, hipMemcpyDefault);
}
Value copy_to_symbol(Case& c) {
  return node(c, "hipGraphAddMemcpyNodeToSymbol", c.handle<const void*>("variable"),
              c.handle<const void*>("device_other"), std::size_t{4}, std::size_t{0}, hipMemcpyDefault);
}
Value copy_from_symbol(Case& c) {
  return node(c, "hipGraphAddMemcpyNodeFromSymbol", c.handle<void*>("device"),
              c.handle<const void*>("variable"), std::size_t{4}, std::size_t{0}, hipMemcpyDefault);
}

// A node of the graph that "stream_capturing" captures.
Value list_of_captured(Case& c) {
  const auto stream = c.handle<hipStream_t>("stream_capturing");
  c.check(c.api("hipMemsetAsync", c.handle<void*>("device"), 0, std::size_t{64}, stream), "hipMemsetAsync");
  hipStreamCaptureStatus status{};
  unsigned long long id = 0;
  hipGraph_t graph = nullptr;
  const hipGraphNode_t* found = nullptr;
  std::size_t count = 0;
  c.check(c.api("hipStreamGetCaptureInfo_v2", stream, &status, &id, &graph, &found, &count),
          "hipStreamGetCaptureInfo_v2");
  auto* const list = c.keep<hipGraphNode_t>();
  if (count != 0) *list = found[0];
  return pointer(list);
}
// A node that is executed after the one of "list_of_node".
Value list_of_after(Case& c) {
  auto* const list = c.keep<hipGraphNode_t>();
  *list = c.handle<hipGraphNode_t>("node_fill");
  const auto* const before = c.handle<const hipGraphNode_t*>("list_of_node");
  c.check(c.api("hipGraphAddDependencies", c.handle<hipGraph_t>("graph"), before,
                static_cast<const hipGraphNode_t*>(list), std::size_t{1}),
          "hipGraphAddDependencies");
  return pointer(list);
}

Value list(Case& c, const char* name) {
  hipGraphNode_t* const list = c.keep<hipGraphNode_t>();
  *list = c.handle<hipGraphNode_t>(name);
  return pointer(list);
}

}  // namespace

void add_graphs(Fixtures& all) {
  all["graph"] = graph;
  all["graph_small"] = graph;
  all["graph_destroyed"] = graph_destroyed;
  all["exec"] = exec;
  all["exec_destroyed"] = exec_destroyed;
  all["node_destroyed"] = node_destroyed;
  all["node_of_destroyed"] = node_of_destroyed;
  all["node_fill"] = [](Case& c) {
    return node(c, "hipGraphAddMemsetNode", c.handle<const hipMemsetParams*>("fill"));
  };
  all["node_copy"] = copy_node;
  all["node_kernel"] = [](Case& c) {
    return node(c, "hipGraphAddKernelNode", c.handle<const hipKernelNodeParams*>("launch_node"));
  };
  all["node_host"] = [](Case& c) {
    return node(c, "hipGraphAddHostNode", c.handle<const hipHostNodeParams*>("host_node"));
  };
  all["node_child"] = [](Case& c) {
    return node(c, "hipGraphAddChildGraphNode", c.handle<hipGraph_t>("graph_small"));
  };
  all["node_record"] = [](Case& c) {
    return node(c, "hipGraphAddEventRecordNode", c.handle<hipEvent_t>("event"));
  };
  all["node_await"] = [](Case& c) {
    return node(c, "hipGraphAddEventWaitNode", c.handle<hipEvent_t>("event"));
  };
  all["node_alloc"] = [](Case& c) {
    return node(c, "hipGraphAddMemAllocNode", c.handle<hipMemAllocNodeParams*>("alloc_node"));
  };
  all["node_free"] = [](Case& c) {
    return node(c, "hipGraphAddMemFreeNode", c.handle<void*>("graph_memory"));
  };
  all["node_batch"] = [](Case& c) {
    return node(c, "hipGraphAddBatchMemOpNode", c.handle<const hipBatchMemOpNodeParams*>("batch_node"));
  };
  all["node_signal"] = [](Case& c) {
    return node(c, "hipGraphAddExternalSemaphoresSignalNode", c.handle<const void*>("semaphore_node"));
  };
  all["node_sem_wait"] = [](Case& c) {
    return node(c, "hipGraphAddExternalSemaphoresWaitNode", c.handle<const void*>("semaphore_node"));
  };
  all["node_copy_1d"] = copy_1d;
  all["node_to_symbol"] = copy_to_symbol;
  all["node_from_symbol"] = copy_from_symbol;
  all["list_of_captured"] = list_of_captured;
  all["list_of_after"] = list_of_after;
  all["list_of_fill"] = [](Case& c) { return list(c, "node_fill"); };
  all["list_of_node"] = [](Case& c) { return list(c, "node_copy"); };
  all["list_of_null"] = [](Case& c) { return pointer(c.block(64)); };
  all["graph_clone"] = clone;
  all["alloc_node"] = alloc_node;
  all["graph_memory"] = graph_memory;
  all["batch_node"] = batch_node;
  all["semaphore_node"] = semaphore_node;
  all["any_node_fill"] = any_node_fill;
  all["any_node_copy"] = any_node_copy;
  all["instantiate_odd"] = instantiate_odd;
  all["user_object"] = user_object;
  all["user_object_destroyed"] = user_object_destroyed;
  all["list_of_destroyed"] = [](Case& c) { return list(c, "node_destroyed"); };
}

}  // namespace tf::differential
