# TF_TRANSPORTS: the names in transport/factory/transports.txt, best first. Other readers of that file rely on what is
# checked here: each line that is neither empty nor a comment is a name, in which C++ and CMake read the same.
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/transport/factory/transports.txt)
file(STRINGS ${CMAKE_SOURCE_DIR}/transport/factory/transports.txt TF_TRANSPORTS REGEX "^[^#]")
set(seen)
foreach(name ${TF_TRANSPORTS})
  if(NOT name MATCHES "^[a-z][a-z0-9_]*$" OR name IN_LIST seen)
    message(FATAL_ERROR "transport/factory/transports.txt: '${name}' is no name of a transport, or there twice")
  endif()
  list(APPEND seen ${name})
endforeach()

# Says why this build has no such transport, where its folder makes no library: tf_transport_absent(rdma "it needs ...")
function(tf_transport_absent name why)
  message(STATUS "${name}: left out, ${why}")
  set_property(GLOBAL PROPERTY TF_ABSENT_${name} "${why}")
endfunction()

# Says what a transport links besides our own libraries: an INTERFACE target with a flag for the linker. Users of our
# archives link it, too: tf_transport_links(tf_liburing).
function(tf_transport_links target)
  set_property(GLOBAL APPEND PROPERTY TF_TRANSPORT_LINKS ${target})
endfunction()

# Says that the transport works only on a machine with a certain device: tf_transport_needs_device(rdma).
function(tf_transport_needs_device name)
  set_property(GLOBAL PROPERTY TF_NEEDS_DEVICE_${name} ON)
endfunction()

# The transports that this build has and any machine can use. Tests of whole programs run over each of them.
function(tf_transports_anywhere result)
  set(names)
  foreach(name ${TF_TRANSPORTS})
    get_property(needs_device GLOBAL PROPERTY TF_NEEDS_DEVICE_${name})
    if(TARGET tf_${name} AND NOT needs_device)
      list(APPEND names ${name})
    endif()
  endforeach()
  set(${result} ${names} PARENT_SCOPE)
endfunction()
