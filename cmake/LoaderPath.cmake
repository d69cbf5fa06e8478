# Runs at installation, when the prefix is known. DOME_LIBDIR: of the libraries, below the prefix; DOME_LOADER_DIRS: matches the
# folders where the loader looks by itself.
cmake_path(ABSOLUTE_PATH DOME_LIBDIR BASE_DIRECTORY "${CMAKE_INSTALL_PREFIX}" NORMALIZE OUTPUT_VARIABLE libdir)

if(libdir MATCHES "${DOME_LOADER_DIRS}")
    set(pc "$ENV{DESTDIR}${libdir}/pkgconfig/dome.pc")
    file(READ "${pc}" text)
    string(REPLACE " -Wl,-rpath,\${libdir}" "" text "${text}")
    file(WRITE "${pc}" "${text}")
endif()

# The loader's list of libraries, for programs that are linked without dome.pc. Below DESTDIR it is the packager's matter.
execute_process(COMMAND id -u OUTPUT_VARIABLE user OUTPUT_STRIP_TRAILING_WHITESPACE)
if(CMAKE_INSTALL_PREFIX MATCHES "^/(usr(/local)?/?)?$" AND "$ENV{DESTDIR}" STREQUAL "" AND user STREQUAL "0")
    find_program(DOME_LDCONFIG ldconfig PATHS /usr/sbin /sbin)
    if(DOME_LDCONFIG)
        message(STATUS "Running: ${DOME_LDCONFIG}")
        execute_process(COMMAND ${DOME_LDCONFIG} RESULT_VARIABLE status)
        if(NOT status STREQUAL "0")
            message(WARNING "${DOME_LDCONFIG} failed (${status}): the loader may not know ${libdir}/libdome.so")
        endif()
    endif()
endif()
