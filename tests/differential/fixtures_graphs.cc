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
  all["list_of_node"] = [](Case& c) { return list(c, "node_copy"); };
  all["list_of_null"] = [](Case& c) { return pointer(c.block(64)); };
  all["list_of_destroyed"] = [](Case& c) { return list(c, "node_destroyed"); };
}

}  // namespace tf::differential
