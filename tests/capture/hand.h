/* For programs that are translated by hand: include/dome/capture.h explains the pattern. */
#ifndef DOME_TESTS_CAPTURE_HAND_H
#define DOME_TESTS_CAPTURE_HAND_H

#include <dome/capture.h>

#define MEMBER(name, structure, type)                                                                                            \
    {                                                                                                                            \
#name, &(type), offsetof(struct structure, name)                                                                         \
    }

/* The struct NAME of members NAME_members. */
#define STRUCT(name) static dome_capture_type name##_type = DOME_CAPTURE_STRUCT(#name, struct name, name##_members)

#define RESUMES  (dome_capture_status & DOME_CAPTURE_RESUMING)
#define CAPTURED (dome_capture_status & DOME_CAPTURE_CAPTURING)
#define POLLED   (dome_capture_status && dome_capture_poll())

/* Saves the variables of this call, in the order of struct FUNCTION_saved. */
#define SAVE(function, point, ...)                                                                                               \
    do {                                                                                                                         \
        struct function##_saved *saved_ = dome_capture_push(&function##_function, point);                                        \
        *saved_ = (struct function##_saved){__VA_ARGS__};                                                                        \
    } while (0)

#endif
