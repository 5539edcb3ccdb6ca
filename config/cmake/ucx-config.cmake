# find_package(ucx) of programs that use the compatible API: imported targets
# ucx::ucm, ucx::ucs, ucx::uct, ucx::ucp.
get_filename_component(_causeway_lib "${CMAKE_CURRENT_LIST_DIR}/../.." ABSOLUTE)
# Set by `make install`: the folder of the headers.
include("${CMAKE_CURRENT_LIST_DIR}/ucx-paths.cmake")
foreach(_causeway_layer ucm ucs uct ucp)
  if(NOT TARGET ucx::${_causeway_layer})
    add_library(ucx::${_causeway_layer} SHARED IMPORTED)
    set_target_properties(ucx::${_causeway_layer} PROPERTIES
      IMPORTED_LOCATION "${_causeway_lib}/lib${_causeway_layer}.so.0"
      INTERFACE_INCLUDE_DIRECTORIES "${ucx_INCLUDE_DIRS}")
  endif()
endforeach()
set_property(TARGET ucx::ucm PROPERTY INTERFACE_LINK_LIBRARIES ucx::ucs)
set_property(TARGET ucx::uct PROPERTY INTERFACE_LINK_LIBRARIES ucx::ucm ucx::ucs)
set_property(TARGET ucx::ucp PROPERTY INTERFACE_LINK_LIBRARIES ucx::uct ucx::ucs)
set(ucx_LIBRARIES ucx::ucp ucx::uct ucx::ucm ucx::ucs)
unset(_causeway_lib)
