/* The version of the library. CMake reads it from here. */
#ifndef DOME_VERSION_H
#define DOME_VERSION_H

#ifdef __cplusplus
extern "C" {
#endif

#define DOME_VERSION_MAJOR 0
#define DOME_VERSION_MINOR 1
#define DOME_VERSION_PATCH 0

/* The version of these headers as a string, "0.1.0". */
#define DOME_VERSION                 DOME_VERSION_TEXT_(DOME_VERSION_MAJOR, DOME_VERSION_MINOR, DOME_VERSION_PATCH)
#define DOME_VERSION_TEXT_(a, b, c)  DOME_VERSION_TEXT2_(a, b, c)
#define DOME_VERSION_TEXT2_(a, b, c) #a "." #b "." #c

/* The version of the library that the program runs with, which may be newer than the headers that
 * it was compiled with. Not collective; may be called before dome_init. A constant string. */
const char *dome_version(void);

#ifdef __cplusplus
}
#endif
#endif
