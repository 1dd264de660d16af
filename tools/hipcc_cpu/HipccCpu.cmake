# Code objects and programs made by hipcc-cpu, for tests and examples.
#   tf_cpu_code_object(kernels_co SOURCE k.hip OUTPUT k.co OPTIONS ... DEPENDS headers...)
#                      target kernels_co, file in the build
#   tf_cpu_object(saxpy_o SOURCE saxpy.hip OUTPUT saxpy.o)    host object with its kernels embedded
# PORTABLE: for all of TF_KERNEL_TARGETS (with NVIDIA GPUs, where this LLVM can), not for the host's cores alone.
include_guard(GLOBAL)

function(tf_hipcc_cpu name mode)
  cmake_parse_arguments(ARG "PORTABLE" "SOURCE;OUTPUT" "OPTIONS;DEPENDS" ${ARGN})
  set(output ${CMAKE_CURRENT_BINARY_DIR}/${ARG_OUTPUT})
  if(ARG_PORTABLE)
    list(APPEND ARG_OPTIONS --offload-arch=${TF_KERNEL_TARGETS})
  endif()
  if(NOT TF_HIP_INCLUDE STREQUAL "/usr/include")  # where the compiler would find the system's, of another version
    list(APPEND ARG_OPTIONS --hip-include ${TF_HIP_INCLUDE})
  endif()
  get_property(tool_files GLOBAL PROPERTY TF_HIPCC_CPU_FILES)  # made anew when the compiler changes
  add_custom_command(OUTPUT ${output} DEPENDS ${ARG_SOURCE} ${ARG_DEPENDS} hipcc_cpu ${tool_files}
                     COMMAND ${CMAKE_BINARY_DIR}/bin/hipcc-cpu ${mode} ${ARG_OPTIONS}
                     ${CMAKE_CURRENT_SOURCE_DIR}/${ARG_SOURCE} -o ${output}
                     COMMENT "hipcc-cpu ${mode} ${ARG_SOURCE}" VERBATIM)
  add_custom_target(${name} DEPENDS ${output})
  set_target_properties(${name} PROPERTIES TF_OUTPUT ${output})
endfunction()

function(tf_cpu_code_object name)
  tf_hipcc_cpu(${name} --genco ${ARGN})
endfunction()

function(tf_cpu_object name)
  tf_hipcc_cpu(${name} -c ${ARGN})
endfunction()
