# SPDX-License-Identifier: Apache-2.0
# Compiles the front (backend.h) into a runtime: tf_runtime_front(tf_cpu_runtime worker/runtime/cpu/backend.h).
set(TF_RUNTIME_FRONT
  arrays.cc box_copies.cc capture.cc context.cc copies.cc device.cc entry_points.cc errors.cc events.cc external.cc
  fills.cc functions.cc graph_library.cc graphs.cc host.cc ipc.cc launch.cc launch_forms.cc link.cc managed.cc
  managed_variables.cc memory.cc modules.cc peer.cc pools.cc profiler.cc programs.cc registration.cc spt.cc streams.cc
  texture_references.cc textures.cc unsupported.cc
  virtual_memory.cc)
list(TRANSFORM TF_RUNTIME_FRONT PREPEND ${CMAKE_CURRENT_LIST_DIR}/)

function(tf_runtime_front name backend)
  target_sources(${name} PRIVATE ${TF_RUNTIME_FRONT})
  target_compile_definitions(${name} PRIVATE TF_RUNTIME_BACKEND="${backend}")
endfunction()

# The libraries of a runtime, all of the same objects (tf_<runtime>_runtime) and of what ARGN links:
#   hip_<runtime>                  the worker loads it: the functions of all majors, by tf_hip_abi_worker's rules
#   hip_<runtime>_native_<major>   <folder>/libamdhip64.so.<major>, in AMD's place for programs that run natively;
#                                  hip_<runtime>_native is that of the first major, hip_<runtime>_natives builds all
# Never unloaded: threads of the runtime, or of a driver below it, may outlive a dlclose.
function(tf_runtime_library name runtime which abi)
  set(exports_map ${CMAKE_CURRENT_BINARY_DIR}/exports_${which}.map)
  add_library(${name} SHARED ${CMAKE_CURRENT_BINARY_DIR}/unsupported_${which}.cc ${exports_map})
  target_link_libraries(${name} PRIVATE tf_options tf_${runtime}_runtime tf_hip_composed ${ARGN} tf_hip_abi_${abi})
  target_link_options(${name} PRIVATE -Wl,--version-script=${exports_map} -Wl,--no-undefined-version -Wl,-z,nodelete)
  set_target_properties(${name} PROPERTIES LINK_DEPENDS ${exports_map})
  tf_link_time_optimised(${name})
endfunction()

function(tf_runtime_libraries runtime folder)
  tf_runtime_library(hip_${runtime} ${runtime} all worker ${ARGN})
  foreach(major ${TF_CLIENT_MAJORS})
    set(name hip_${runtime}_native_${major})
    tf_runtime_library(${name} ${runtime} ${major} ${major} ${ARGN})
    tf_of_major(${name} amdhip64 ${major})
    set_target_properties(${name} PROPERTIES LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/lib/${folder})
    list(APPEND natives ${name})
  endforeach()
  add_custom_target(hip_${runtime}_natives DEPENDS ${natives})
  add_library(hip_${runtime}_native ALIAS hip_${runtime}_native_${TF_CLIENT_MAJOR})
  set_property(GLOBAL PROPERTY TF_NATIVE_LIBRARIES_${runtime} ${natives})
endfunction()
