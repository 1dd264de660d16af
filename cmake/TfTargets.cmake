# How every target of the project is compiled, in one place.
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_CXX_VISIBILITY_PRESET hidden)
set(CMAKE_C_VISIBILITY_PRESET hidden)
set(CMAKE_VISIBILITY_INLINES_HIDDEN ON)
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/bin)
set(CMAKE_LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/lib)
set(CMAKE_ARCHIVE_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/lib)

# A launcher that was asked for (-DCMAKE_CXX_COMPILER_LAUNCHER=) wins. ccache finds what any clone on this machine has
# compiled: paths below the source folder count as relative, and the folder itself does not count. (A debugger then
# looks for sources where they were compiled first.)
find_program(TF_COMPILER_CACHE NAMES ccache sccache)
find_program(TF_ENV NAMES env)
set(launcher ${TF_COMPILER_CACHE})
if(TF_COMPILER_CACHE MATCHES "/ccache$" AND TF_ENV)
  set(launcher ${TF_ENV} CCACHE_BASEDIR=${CMAKE_SOURCE_DIR} CCACHE_NOHASHDIR=1 ${TF_COMPILER_CACHE})
endif()
foreach(language C CXX)
  if(TF_COMPILER_CACHE AND NOT CMAKE_${language}_COMPILER_LAUNCHER)
    set(CMAKE_${language}_COMPILER_LAUNCHER ${launcher})
  endif()
endforeach()

add_library(tf_options INTERFACE)
target_compile_options(tf_options INTERFACE -Wall -Wextra -Wpedantic -Wshadow -Wconversion
                       -Wno-sign-conversion -fno-omit-frame-pointer)
# Where sources are compiled together, a name may hide one of another file.
if(CMAKE_UNITY_BUILD)
  target_compile_options(tf_options INTERFACE -Wno-shadow)
endif()
if(TF_WERROR)
  target_compile_options(tf_options INTERFACE -Werror)
endif()
if(CMAKE_CXX_COMPILER_ID MATCHES Clang)
  # What mutexes guard: transport/base/thread_annotations.h.
  target_compile_options(tf_options INTERFACE -Wthread-safety -Werror=thread-safety)
endif()
if(TF_SANITIZE)
  target_compile_options(tf_options INTERFACE -fsanitize=${TF_SANITIZE} -fno-sanitize-recover=all)
  target_link_options(tf_options INTERFACE -fsanitize=${TF_SANITIZE})
endif()
# A fuzzer goes by the branches that its inputs reach: those of the code under test, and not only its entry's.
if(TF_FUZZ)
  target_compile_options(tf_options INTERFACE -fsanitize=fuzzer-no-link)
  target_link_options(tf_options INTERFACE -fsanitize=fuzzer-no-link)
endif()
if(TF_SANITIZE MATCHES undefined)
  # HIP is a C API: callers may pass any number where the prototype says enum, and the checks read it.
  target_compile_options(tf_options INTERFACE -fno-sanitize=enum)
endif()
if(TF_SANITIZE MATCHES thread)
  target_compile_definitions(tf_options INTERFACE TF_THREAD_SANITIZER)  # gcc has a macro for it, clang has not
endif()
target_include_directories(tf_options INTERFACE ${CMAKE_SOURCE_DIR})

# What is optimised gets shipped: a call passes through several small libraries on its way, and is one function only
# where the linker sees them all. The objects also hold ordinary code, so that tests link as fast as ever. clang 14
# has no such objects.
set(TF_LINK_TIME_OPTIMISED OFF)
if(TF_LTO AND CMAKE_CXX_COMPILER_ID STREQUAL GNU AND CMAKE_BUILD_TYPE MATCHES "^Rel" AND NOT TF_SANITIZE)
  set(TF_LINK_TIME_OPTIMISED ON)
endif()

# The objects of a target take part in it.
function(tf_optimisable name)
  if(TF_LINK_TIME_OPTIMISED)
    target_compile_options(${name} PRIVATE -flto -ffat-lto-objects)
  endif()
endfunction()

# A program or shared library that is linked so.
function(tf_link_time_optimised name)
  tf_optimisable(${name})
  if(TF_LINK_TIME_OPTIMISED)
    target_link_options(${name} PRIVATE -flto=auto)
  endif()
endfunction()

# Sources that read a command line. CLI11 is a header; such a file costs as much to optimise as eight others, and runs
# once in a program's life.
function(tf_command_line_sources)
  set_source_files_properties(${ARGN} PROPERTIES COMPILE_OPTIONS -O0)
endfunction()

# LD_LIBRARY_PATH must win over the path of the build tree: that is how one program runs natively or remotely.
add_link_options(-Wl,--enable-new-dtags)

# Static library of one directory: tf_library(tf_shm SOURCES a.cc b.cc DEPENDS tf_net)
function(tf_library name)
  cmake_parse_arguments(ARG "" "" "SOURCES;DEPENDS;PRIVATE_DEPENDS" ${ARGN})
  add_library(${name} STATIC ${ARG_SOURCES})
  target_include_directories(${name} PUBLIC $<BUILD_INTERFACE:${CMAKE_SOURCE_DIR}>
                             $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}/hip-remote>)
  target_link_libraries(${name} PRIVATE $<BUILD_INTERFACE:tf_options> ${ARG_PRIVATE_DEPENDS}
                        PUBLIC ${ARG_DEPENDS})
  tf_optimisable(${name})
  tf_use_precompiled(${name} library)
endfunction()

function(tf_executable name)
  cmake_parse_arguments(ARG "" "" "SOURCES;DEPENDS" ${ARGN})
  add_executable(${name} ${ARG_SOURCES})
  target_link_libraries(${name} PRIVATE tf_options ${ARG_DEPENDS})
  if(ARG_DEPENDS MATCHES "GTest::")
    tf_use_precompiled(${name} test)
  else()
    tf_use_precompiled(${name} program)
  endif()
endfunction()

# Sets a variable to so many seconds, or more where a sanitizer makes everything slower.
function(tf_test_seconds variable seconds)
  if(TF_SANITIZE MATCHES thread)
    math(EXPR seconds "${seconds} * 4")
  endif()
  set(${variable} ${seconds} PARENT_SCOPE)
endfunction()

# GoogleTest program registered with ctest as one test: tf_test(ring_test SOURCES ... DEPENDS ... LABELS unit)
function(tf_test name)
  cmake_parse_arguments(ARG "" "TIMEOUT" "SOURCES;DEPENDS;LABELS;ARGS" ${ARGN})
  if(NOT ARG_TIMEOUT)
    set(ARG_TIMEOUT 300)
  endif()
  tf_test_seconds(limit_s ${ARG_TIMEOUT})
  tf_executable(${name} SOURCES ${ARG_SOURCES} DEPENDS ${ARG_DEPENDS} GTest::gtest GTest::gtest_main)
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/bin/tests)
  add_test(NAME ${name} COMMAND ${name} ${ARG_ARGS})
  set_tests_properties(${name} PROPERTIES TIMEOUT ${limit_s} LABELS "${ARG_LABELS}"
                       SKIP_REGULAR_EXPRESSION "^all tests skipped")
  # GCC 12's LeakSanitizer guesses the size of a library's thread-local memory from what stands before it, and crashes
  # if that memory lies 16 bytes behind the start of a page.
  if(TF_SANITIZE MATCHES address)
    set_tests_properties(${name} PROPERTIES ENVIRONMENT "ASAN_OPTIONS=intercept_tls_get_addr=0")
  endif()
endfunction()
