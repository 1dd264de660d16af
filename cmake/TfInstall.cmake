# What `cmake --install` lays out, and how others find it: find_package(hip-remote) or pkg-config hip-remote.
#   hip-remote::transport   the transports as a static library with headers (for tools built on them)
#   hip-remote::amdhip64    the proxy, a drop-in for AMD's libamdhip64
# The libraries lie in <libdir>: libamdhip64.so.N (the proxy), libhip_cpu.so and libhip_cuda.so (hip-worker's
# runtimes), native/ and native-cuda/ (those under AMD's names). Programs and tools are installed by their own folders.
# The prefix should be one of our own or /usr/local: in /usr the proxy would take the place of AMD's library. It may be
# moved: everything finds the rest from where it lies itself.
include(CMakePackageConfigHelpers)
set(TF_INSTALL_FINDDIR ${CMAKE_INSTALL_LIBDIR} CACHE STRING
    "Folder for what find_package(hip-remote) and pkg-config look for; by default that of the libraries")

get_property(links GLOBAL PROPERTY TF_TRANSPORT_LINKS)
list(REMOVE_DUPLICATES links)
set(TF_EXPORTED tf_base tf_secure tf_transport tf_net tf_transport_factory ${links})
set(folders_of_headers transport transport/base transport/secure transport/net transport/factory)
set(TF_TRANSPORT_LIBS)  # before what they need themselves
set(TF_TRANSPORT_NEEDS)
foreach(name ${links})
  get_target_property(flags ${name} INTERFACE_LINK_LIBRARIES)
  list(JOIN flags " " flags)
  string(APPEND TF_TRANSPORT_NEEDS " ${flags}")
endforeach()
foreach(name ${TF_TRANSPORTS})
  if(TARGET tf_${name})
    list(APPEND TF_EXPORTED tf_${name})
    list(APPEND folders_of_headers ${name})
    string(APPEND TF_TRANSPORT_LIBS " -ltf_${name}")
  endif()
endforeach()
install(TARGETS ${TF_EXPORTED} EXPORT hip-remote-targets
        ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR}/hip-remote)
get_property(rtc_libraries GLOBAL PROPERTY TF_HIPRTC_LIBRARIES)
get_property(native_libraries GLOBAL PROPERTY TF_NATIVE_LIBRARIES_cpu)
get_property(native_cuda_libraries GLOBAL PROPERTY TF_NATIVE_LIBRARIES_cuda)
set(libraries ${TF_PROXIES} hip_cpu hip_cuda ${rtc_libraries})  # the proxy looks for libhiprtc beside itself
list(APPEND native_libraries ${rtc_libraries})
install(TARGETS ${libraries} LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
get_property(smi_libraries GLOBAL PROPERTY TF_SMI_LIBRARIES)
install(TARGETS ${smi_libraries} LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(TARGETS accelerator_amd_0 LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(TARGETS accelerator_amd_1 LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}/tensor-fusion-hypervisor)
install(TARGETS ${native_libraries} LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}/native)
install(TARGETS ${native_cuda_libraries} LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}/native-cuda)
tf_plain_names(. amdhip64 hiprtc)
tf_plain_names(native amdhip64 hiprtc)
tf_plain_names(native-cuda amdhip64)
# `cmake --install --strip` leaves archives alone. Debug information goes, and what only a link with our own options
# reads.
install(CODE "
  if(CMAKE_INSTALL_DO_STRIP)
    file(GLOB archives \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_LIBDIR}/hip-remote/*.a\")
    execute_process(COMMAND \"${CMAKE_STRIP}\" --strip-debug --wildcard --remove-section=.gnu.lto_*
                    --remove-section=.gnu.debuglto_* \${archives} COMMAND_ERROR_IS_FATAL ANY)
  endif()")
install(EXPORT hip-remote-targets NAMESPACE hip-remote:: DESTINATION ${TF_INSTALL_FINDDIR}/cmake/hip-remote)
foreach(folder ${folders_of_headers})
  file(GLOB headers CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/${folder}/*.h)
  list(FILTER headers EXCLUDE REGEX "/transport/secure/(openssl|tls)\\.h$")  # inside only: they need OpenSSL's headers
  install(FILES ${headers} DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/hip-remote/${folder})
endforeach()

configure_package_config_file(${CMAKE_SOURCE_DIR}/cmake/hip-remote-config.cmake.in
  ${CMAKE_BINARY_DIR}/hip-remote-config.cmake
  INSTALL_DESTINATION ${TF_INSTALL_FINDDIR}/cmake/hip-remote PATH_VARS CMAKE_INSTALL_LIBDIR)
write_basic_package_version_file(${CMAKE_BINARY_DIR}/hip-remote-config-version.cmake
  COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_BINARY_DIR}/hip-remote-config.cmake ${CMAKE_BINARY_DIR}/hip-remote-config-version.cmake
        DESTINATION ${TF_INSTALL_FINDDIR}/cmake/hip-remote)
file(RELATIVE_PATH TF_PKGCONFIG_TO_PREFIX /${TF_INSTALL_FINDDIR}/pkgconfig /)
configure_file(${CMAKE_SOURCE_DIR}/cmake/hip-remote.pc.in ${CMAKE_BINARY_DIR}/hip-remote.pc @ONLY)
install(FILES ${CMAKE_BINARY_DIR}/hip-remote.pc DESTINATION ${TF_INSTALL_FINDDIR}/pkgconfig)
install(FILES ${CMAKE_SOURCE_DIR}/packaging/metainfo/org.hip_remote.hip_remote.metainfo.xml
        DESTINATION ${CMAKE_INSTALL_DATADIR}/metainfo)
include(TfHipPackage)
