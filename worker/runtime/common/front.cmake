# SPDX-License-Identifier: Apache-2.0
# Compiles the front (backend.h) into a runtime: tf_runtime_front(tf_cpu_runtime worker/runtime/cpu/backend.h).
set(TF_RUNTIME_FRONT
  arrays.cc box_copies.cc capture.cc context.cc copies.cc device.cc entry_points.cc errors.cc events.cc external.cc
  fills.cc functions.cc graph_library.cc graphs.cc host.cc ipc.cc launch.cc launch_forms.cc link.cc managed.cc
  memory.cc modules.cc peer.cc pools.cc profiler.cc programs.cc registration.cc spt.cc streams.cc
  texture_references.cc textures.cc unsupported.cc
  virtual_memory.cc)
list(TRANSFORM TF_RUNTIME_FRONT PREPEND ${CMAKE_CURRENT_LIST_DIR}/)

function(tf_runtime_front name backend)
  target_sources(${name} PRIVATE ${TF_RUNTIME_FRONT})
  target_compile_definitions(${name} PRIVATE TF_RUNTIME_BACKEND="${backend}")
endfunction()
