# Each folder of src is one part of the library; a new file in it is part of the library.
file(GLOB DOME_SOURCES CONFIGURE_DEPENDS src/core/*.c src/transport/*.c src/local/*.c src/kernels/*.c src/objects/*.c src/comm/*.c src/balance/*.c src/network/*.c src/trace/*.c src/supervision/*.c src/program/*.c)
if(DOME_PVM)
    file(GLOB DOME_PVM_SOURCES CONFIGURE_DEPENDS src/pvm/*.c)
    list(APPEND DOME_SOURCES ${DOME_PVM_SOURCES})
endif()
if(DOME_CHECKPOINT)
    file(GLOB DOME_CKPT_SOURCES CONFIGURE_DEPENDS src/ckpt/*.c src/delta/*.c)
    list(APPEND DOME_SOURCES ${DOME_CKPT_SOURCES})
    file(GLOB DOME_CAPTURE_SOURCES CONFIGURE_DEPENDS src/capture/*.c)
    list(APPEND DOME_SOURCES ${DOME_CAPTURE_SOURCES})
else()
    list(APPEND DOME_SOURCES src/ckpt/checkpoint.c) # says that there are none
endif()

# Loops over elements.
file(GLOB DOME_KERNEL_SOURCES CONFIGURE_DEPENDS src/kernels/*.c src/objects/*.c)

file(GLOB DOME_TOOL_SOURCES CONFIGURE_DEPENDS tools/*.c)
if(NOT DOME_CHECKPOINT)
    list(FILTER DOME_TOOL_SOURCES EXCLUDE REGEX "dome_ckpt")
endif()
if(NOT DOME_PVM)
    list(FILTER DOME_TOOL_SOURCES EXCLUDE REGEX "dome_(hosts|doctor|net)|first_program")
endif()
