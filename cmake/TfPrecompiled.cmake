# Reading the standard library and GoogleTest again for each source is most of a debug build's time. Where
# TF_PRECOMPILED is on they are read once: for libraries, for programs (-fPIE), and for tests. It is off where people
# work on the sources (the preset dev): a file that forgets an #include compiles here.
set(TF_PRECOMPILED_HEADERS
    <algorithm> <array> <atomic> <charconv> <chrono> <condition_variable> <cstdint> <cstdio> <cstdlib> <cstring>
    <deque> <filesystem> <fstream> <functional> <map> <memory> <mutex> <optional> <set> <span> <sstream> <string>
    <string_view> <system_error> <thread> <tuple> <unordered_map> <utility> <variant> <vector>)

# tf_precompile(KIND HEADERS...): an object library that holds what targets of this kind have in common.
function(tf_precompile kind)
  set(source ${CMAKE_BINARY_DIR}/precompiled/${kind}.cc)
  file(CONFIGURE OUTPUT ${source} CONTENT "// Compiled for what it includes first.\n")
  add_library(tf_precompiled_${kind} OBJECT EXCLUDE_FROM_ALL ${source})
  target_link_libraries(tf_precompiled_${kind} PRIVATE tf_options)
  list(TRANSFORM ARGN REPLACE "(.+)" "$<$<COMPILE_LANGUAGE:CXX>:\\1>")
  target_precompile_headers(tf_precompiled_${kind} PRIVATE ${ARGN})
endfunction()

# tf_use_precompiled(NAME KIND): the sources of the target find the headers of this kind read already.
function(tf_use_precompiled name kind)
  if(TF_PRECOMPILED)
    target_precompile_headers(${name} REUSE_FROM tf_precompiled_${kind})
  endif()
endfunction()

if(TF_PRECOMPILED)
  tf_precompile(library ${TF_PRECOMPILED_HEADERS})
  tf_precompile(program ${TF_PRECOMPILED_HEADERS})
  set_target_properties(tf_precompiled_program PROPERTIES POSITION_INDEPENDENT_CODE OFF)
  target_compile_options(tf_precompiled_program PRIVATE -fPIE)
  tf_precompile(test ${TF_PRECOMPILED_HEADERS} <gtest/gtest.h>)
  set_target_properties(tf_precompiled_test PROPERTIES POSITION_INDEPENDENT_CODE OFF)
  target_compile_options(tf_precompiled_test PRIVATE -fPIE)
  target_link_libraries(tf_precompiled_test PRIVATE GTest::gtest)
endif()
