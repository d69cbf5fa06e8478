# bench/*.c: Dome programs; bench/mpi_*.c: their twins in MPI, built where an MPI is found.
file(GLOB bench_sources CONFIGURE_DEPENDS bench/*.c)
find_program(DOME_MPICC mpicc)
mark_as_advanced(DOME_MPICC)
foreach(source IN LISTS bench_sources)
    get_filename_component(name ${source} NAME_WE)
    if(name MATCHES "^mpi_|_mpi$")
        if(DOME_MPICC)
            set(program ${PROJECT_BINARY_DIR}/bench/${name})
            add_custom_command(
                OUTPUT ${program}
                COMMAND ${DOME_MPICC} -O2 -o ${program} ${source}
                DEPENDS ${source}
                VERBATIM)
            add_custom_target(bench_${name} ALL DEPENDS ${program})
        endif()
    else()
        add_executable(bench_${name} ${source})
        set_target_properties(bench_${name} PROPERTIES OUTPUT_NAME ${name} RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/bench)
        target_compile_options(bench_${name} PRIVATE -Wall -Wextra)
        target_link_libraries(bench_${name} PRIVATE dome_internal) # some measure parts that are not public
    endif()
endforeach()
if(bench_sources)
    file(MAKE_DIRECTORY ${PROJECT_BINARY_DIR}/bench)
endif()
