# TF_TRANSPORTS: the names in transport/factory/transports.txt, best first.
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/transport/factory/transports.txt)
file(STRINGS ${CMAKE_SOURCE_DIR}/transport/factory/transports.txt TF_TRANSPORTS REGEX "^[a-z]")

# Says why this build has no such transport, where its folder makes no library: tf_transport_absent(rdma "it needs ...")
function(tf_transport_absent name why)
  message(STATUS "${name}: left out, ${why}")
  set_property(GLOBAL PROPERTY TF_ABSENT_${name} "${why}")
endfunction()
