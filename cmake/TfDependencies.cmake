# Everything comes from Debian 12 packages (tools/setup installs them). What is loaded into other
# people's programs links liburing statically, so it adds no run-time dependency there.
find_package(Threads REQUIRED)
find_package(PkgConfig REQUIRED)
find_package(Python3 3.11 REQUIRED COMPONENTS Interpreter)

pkg_check_modules(LIBURING REQUIRED liburing>=2.3)
find_library(TF_LIBURING_STATIC NAMES liburing.a REQUIRED)
add_library(tf_liburing INTERFACE)
target_link_libraries(tf_liburing INTERFACE -l:liburing.a)

# The vendor's HIP headers (5.2.3 on Debian 12): types, enums and prototypes only, never linked.
find_path(TF_HIP_INCLUDE hip/hip_runtime_api.h REQUIRED)
# What came later is declared in hipcore/newer, and newer headers declare it a second time.
file(STRINGS ${TF_HIP_INCLUDE}/hip/hip_version.h found REGEX "define HIP_VERSION_(MAJOR|MINOR) ")
string(REGEX REPLACE "[^0-9;]" "" found "${found}")
if(NOT found STREQUAL "5;2")
  list(JOIN found "." found)
  message(FATAL_ERROR "${TF_HIP_INCLUDE} has the headers of HIP ${found}; hip-remote is built with those of HIP 5.2, "
                      "as Debian 12's libamdhip64-dev has them. Unpack them elsewhere (dpkg-deb -x), and pass "
                      "-DTF_HIP_INCLUDE=FOLDER/usr/include. Programs of HIP 5, 6 and 7 run all the same.")
endif()
add_library(tf_hip_headers INTERFACE)
target_include_directories(tf_hip_headers SYSTEM INTERFACE ${CMAKE_SOURCE_DIR}/hipcore/newer/ahead ${TF_HIP_INCLUDE})
target_compile_definitions(tf_hip_headers INTERFACE __HIP_PLATFORM_AMD__=1)

# OpenSSL 3: types and prototypes only, never linked (transport/secure/openssl.h).
find_path(TF_OPENSSL_INCLUDE openssl/ssl.h REQUIRED)
add_library(tf_openssl_headers INTERFACE)
target_include_directories(tf_openssl_headers SYSTEM INTERFACE ${TF_OPENSSL_INCLUDE})

find_package(CLI11 REQUIRED)
find_package(fmt REQUIRED)
if(TF_TESTS)
  find_package(GTest REQUIRED)
endif()
