# find_package(hip) and enable_language(HIP) with hipcc-cpu: what AMD's packages are to a CMake project.
#   <libdir>/cmake/hip         hip::host, hip::device, hip::amdhip64 (our proxy)
#   <libdir>/cmake/hiprtc      hiprtc::hiprtc
#   <libdir>/hip-remote/rocm   a ROCm root: bin/{hipcc,clang++,hipconfig,rocm_agent_enumerator}, lib/cmake/hip-lang
# hipcc and clang++ lie in the root only, so that they hide nobody's. All links and paths are relative: the prefix may
# be moved.
include(CMakePackageConfigHelpers)

file(READ ${TF_HIP_INCLUDE}/hip/hip_version.h header)
foreach(part MAJOR MINOR PATCH)
  string(REGEX MATCH "#define HIP_VERSION_${part} ([0-9]+)" found "${header}")
  set(TF_HIP_${part} ${CMAKE_MATCH_1})
endforeach()
set(TF_HIP_VERSION ${TF_HIP_MAJOR}.${TF_HIP_MINOR}.${TF_HIP_PATCH})

set(root ${CMAKE_INSTALL_LIBDIR}/hip-remote/rocm)
set(hip_folder ${CMAKE_INSTALL_LIBDIR}/cmake/hip)
set(hiprtc_folder ${CMAKE_INSTALL_LIBDIR}/cmake/hiprtc)
file(RELATIVE_PATH TF_PREFIX_FROM_HIP /prefix/${hip_folder} /prefix)
file(RELATIVE_PATH TF_PREFIX_FROM_HIP_LANG /prefix/${root}/lib/cmake/hip-lang /prefix)
foreach(package hip hiprtc hip-lang)
  configure_file(${CMAKE_SOURCE_DIR}/cmake/${package}-config.cmake.in ${CMAKE_BINARY_DIR}/${package}-config.cmake @ONLY)
  write_basic_package_version_file(${CMAKE_BINARY_DIR}/${package}-config-version.cmake VERSION ${TF_HIP_VERSION}
                                   COMPATIBILITY SameMajorVersion)
endforeach()
install(FILES ${CMAKE_BINARY_DIR}/hip-config.cmake ${CMAKE_BINARY_DIR}/hip-config-version.cmake
        DESTINATION ${hip_folder})
install(FILES ${CMAKE_BINARY_DIR}/hiprtc-config.cmake ${CMAKE_BINARY_DIR}/hiprtc-config-version.cmake
        DESTINATION ${hiprtc_folder})
install(FILES ${CMAKE_BINARY_DIR}/hip-lang-config.cmake ${CMAKE_BINARY_DIR}/hip-lang-config-version.cmake
        DESTINATION ${root}/lib/cmake/hip-lang)
install(PROGRAMS ${CMAKE_SOURCE_DIR}/tools/hipcc_cpu/rocm/hipconfig
        ${CMAKE_SOURCE_DIR}/tools/hipcc_cpu/rocm/rocm_agent_enumerator DESTINATION ${root}/bin)

# Links, made where the files go: <root>/<name> to <prefix>/<target>.
function(tf_install_link name target)
  get_filename_component(folder /prefix/${root}/${name} DIRECTORY)
  file(RELATIVE_PATH relative ${folder} /prefix/${target})
  install(CODE "
    set(link \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/${root}/${name}\")
    get_filename_component(folder \"\${link}\" DIRECTORY)
    file(MAKE_DIRECTORY \"\${folder}\")
    file(CREATE_LINK \"${relative}\" \"\${link}\" SYMBOLIC)")
endfunction()
tf_install_link(bin/hipcc ${CMAKE_INSTALL_BINDIR}/hipcc-cpu)
tf_install_link(bin/clang++ ${CMAKE_INSTALL_BINDIR}/hipcc-cpu)
tf_install_link(llvm/bin/clang++ ${CMAKE_INSTALL_BINDIR}/hipcc-cpu)  # where ROCm has it
tf_install_link(llvm/bin/clang ${CMAKE_INSTALL_BINDIR}/hipcc-cpu)
tf_install_link(lib/cmake/hip ${hip_folder})
tf_install_link(lib/cmake/hiprtc ${hiprtc_folder})
foreach(library amdhip64 hiprtc)  # projects look for either by its name
  tf_install_link(lib/lib${library}.so ${CMAKE_INSTALL_LIBDIR}/lib${library}.so)
  foreach(major ${TF_CLIENT_MAJORS})
    tf_install_link(lib/lib${library}.so.${major} ${CMAKE_INSTALL_LIBDIR}/lib${library}.so.${major})
  endforeach()
endforeach()
