/* Errors that leave no way to go on. */
#ifndef DOME_SRC_HEAP_DIE_H
#define DOME_SRC_HEAP_DIE_H

/* Prints one line and ends the program with status 1. */
void dome__capture_die(const char *format, ...) __attribute__((format(printf, 1, 2), noreturn));

#endif
