# Finds PVM3: target PVM3::pvm3, variable PVM3_FOUND.
find_path(PVM3_INCLUDE_DIR pvm3.h HINTS ENV PVM_ROOT PATHS /usr/lib/pvm3 PATH_SUFFIXES include)
find_library(PVM3_LIBRARY pvm3 HINTS ENV PVM_ROOT PATHS /usr/lib/pvm3 PATH_SUFFIXES lib)
mark_as_advanced(PVM3_INCLUDE_DIR PVM3_LIBRARY)

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(
    PVM3
    REQUIRED_VARS PVM3_LIBRARY PVM3_INCLUDE_DIR
    REASON_FAILURE_MESSAGE "install the package pvm-dev, or configure with -DDOME_PVM=OFF for one task only")

if(PVM3_FOUND AND NOT TARGET PVM3::pvm3)
    add_library(PVM3::pvm3 UNKNOWN IMPORTED)
    set_target_properties(PVM3::pvm3 PROPERTIES IMPORTED_LOCATION "${PVM3_LIBRARY}" INTERFACE_INCLUDE_DIRECTORIES
                                                                                    "${PVM3_INCLUDE_DIR}")
endif()
