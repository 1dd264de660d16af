# The majors that the client stands in for, from hipcore/exports/majors.txt:
#   TF_CLIENT_MAJORS         their numbers; the first is the headers'
#   TF_CLIENT_MAJOR          that one
#   TF_PROXIES, TF_PROXY     the libraries' targets: of all, and of the first
#   tf_of_major(target name major)   the shared library `target` becomes lib<name>.so.<major>. That of the first major
#                            also gets the link lib<name>.so, which linkers look for
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/hipcore/exports/majors.txt)
file(STRINGS ${CMAKE_SOURCE_DIR}/hipcore/exports/majors.txt lines REGEX "^[0-9]+ [0-9.]+$")
set(TF_CLIENT_MAJORS)
set(TF_PROXIES)
foreach(line ${lines})
  string(REGEX MATCH "^[0-9]+" major ${line})
  list(APPEND TF_CLIENT_MAJORS ${major})
  list(APPEND TF_PROXIES amdhip64_${major})
endforeach()
list(GET TF_CLIENT_MAJORS 0 TF_CLIENT_MAJOR)
list(GET TF_PROXIES 0 TF_PROXY)

function(tf_of_major target name major)
  set_target_properties(${target} PROPERTIES OUTPUT_NAME ${name})
  if(major STREQUAL TF_CLIENT_MAJOR)
    set_target_properties(${target} PROPERTIES SOVERSION ${major})
    return()
  endif()
  set_target_properties(${target} PROPERTIES SUFFIX .so.${major} NO_SONAME ON)
  target_link_options(${target} PRIVATE -Wl,-soname,lib${name}.so.${major})
endfunction()

# In the build tree and in what is installed, <libdir>/<folder>/plain-<major>/lib<name>.so is a link to
# lib<name>.so.<major>: what programs open that dlopen() a library by its plain name (hip-remote run, --preload).
function(tf_plain_names folder)
  foreach(major ${TF_CLIENT_MAJORS})
    cmake_path(SET plain NORMALIZE ${folder}/plain-${major})
    file(MAKE_DIRECTORY ${CMAKE_BINARY_DIR}/lib/${plain})
    foreach(name ${ARGN})
      file(CREATE_LINK ../lib${name}.so.${major} ${CMAKE_BINARY_DIR}/lib/${plain}/lib${name}.so SYMBOLIC)
      install(FILES ${CMAKE_BINARY_DIR}/lib/${plain}/lib${name}.so DESTINATION ${CMAKE_INSTALL_LIBDIR}/${plain})
    endforeach()
  endforeach()
endfunction()
