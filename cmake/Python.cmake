# The package of Python: python/README.md. build/python/dome is what tests and programs of the build folder import.
find_program(DOME_PYTHON_EXECUTABLE NAMES python3 PATHS /usr/bin NO_DEFAULT_PATH)
find_program(DOME_PYTHON_EXECUTABLE NAMES python3)
mark_as_advanced(DOME_PYTHON_EXECUTABLE)
set(why_no_python "")
if(NOT BUILD_SHARED_LIBS)
    set(why_no_python "it needs the shared library")
elseif(NOT DOME_PYTHON_EXECUTABLE)
    set(why_no_python "python3 is not installed")
else()
    execute_process(
        COMMAND ${DOME_PYTHON_EXECUTABLE} -c "import cffi, os, setuptools, sysconfig; os.stat(sysconfig.get_path('include') + '/Python.h')"
        RESULT_VARIABLE failed OUTPUT_QUIET ERROR_QUIET)
    if(failed)
        set(why_no_python "it needs python3-cffi, python3-dev and python3-setuptools")
    elseif(DOME_SANITIZE)
        set(why_no_python "the interpreter is built without sanitizers")
    endif()
endif()
if(why_no_python)
    message(STATUS "The package of Python is not built: ${why_no_python}")
    return()
endif()

set(package ${PROJECT_BINARY_DIR}/python/dome)
file(MAKE_DIRECTORY ${package})
file(GLOB modules CONFIGURE_DEPENDS python/dome/*.py python/dome/*.pyi python/dome/py.typed)
foreach(module IN LISTS modules)
    get_filename_component(name ${module} NAME)
    file(CREATE_LINK ${module} ${package}/${name} SYMBOLIC)
endforeach()
file(GLOB headers CONFIGURE_DEPENDS include/dome/*.h)
list(JOIN CMAKE_C_COMPILER_LAUNCHER " " compiler) # a cache of the compiler's has the module for the build without PVM, too
string(STRIP "${compiler} ${CMAKE_C_COMPILER}" compiler)
add_custom_command(
    OUTPUT ${package}/_dome.abi3.so
    COMMAND ${CMAKE_COMMAND} -E env DOME_INCLUDE_DIR=${PROJECT_SOURCE_DIR}/include DOME_LIBRARY_DIR=$<TARGET_FILE_DIR:dome> "CC=${compiler}"
            ${DOME_PYTHON_EXECUTABLE} -B ${PROJECT_SOURCE_DIR}/python/build_dome.py ${PROJECT_BINARY_DIR}/python
    DEPENDS ${PROJECT_SOURCE_DIR}/python/build_dome.py ${PROJECT_SOURCE_DIR}/python/additions.c ${headers} dome
    COMMENT "Building the package of Python"
    VERBATIM)
add_custom_target(dome_python ALL DEPENDS ${package}/_dome.abi3.so)
