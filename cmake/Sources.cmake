# Each folder of src is one part of the library; a new file in it is part of the library.

# The file of checkpoints and what it stands on: these build alone (the target dome_store).
file(GLOB DOME_STORE_SOURCES CONFIGURE_DEPENDS src/system/*.c)
if(DOME_CHECKPOINT)
    file(GLOB sources CONFIGURE_DEPENDS src/delta/*.c src/store/*.c)
    list(APPEND DOME_STORE_SOURCES ${sources})
endif()

set(DOME_SOURCES "")
foreach(folder core memory transport local peer network trace kernels eval files objects arrays io sparse comm sections region space balance wire manage machine watch hub daemon
               launch options program)
    file(GLOB sources CONFIGURE_DEPENDS src/${folder}/*.c)
    list(APPEND DOME_SOURCES ${sources})
endforeach()
if(DOME_PVM)
    file(GLOB DOME_PVM_SOURCES CONFIGURE_DEPENDS src/pvm/*.c)
    list(APPEND DOME_SOURCES ${DOME_PVM_SOURCES})
endif()
if(DOME_CHECKPOINT)
    file(GLOB DOME_CKPT_SOURCES CONFIGURE_DEPENDS src/ckpt/*.c src/copies/*.c)
    list(APPEND DOME_SOURCES ${DOME_CKPT_SOURCES})
    file(GLOB sources CONFIGURE_DEPENDS src/changes/*.c)
    list(APPEND DOME_SOURCES ${sources})
    file(GLOB DOME_CAPTURE_SOURCES CONFIGURE_DEPENDS src/heap/*.c src/capture/*.c)
    list(APPEND DOME_SOURCES ${DOME_CAPTURE_SOURCES})
else()
    list(APPEND DOME_SOURCES src/ckpt/checkpoint.c) # says that there are none
endif()

# libdome-omp alone has these.
file(GLOB DOME_OPENMP_SOURCES CONFIGURE_DEPENDS src/openmp/*.c src/kmpc/*.c src/races/*.c src/process/*.c src/clib/*.c)

# Loops over elements.
file(GLOB DOME_KERNEL_SOURCES CONFIGURE_DEPENDS src/kernels/*.c src/eval/*.c src/files/*.c src/objects/*.c src/arrays/*.c src/io/*.c src/sparse/*.c)

file(GLOB DOME_TOOL_SOURCES CONFIGURE_DEPENDS tools/*.c)
if(NOT DOME_CHECKPOINT)
    list(FILTER DOME_TOOL_SOURCES EXCLUDE REGEX "dome_ckpt")
endif()
if(NOT DOME_PVM)
    list(FILTER DOME_TOOL_SOURCES EXCLUDE REGEX "dome_(hosts|doctor|net)|first_program")
endif()
