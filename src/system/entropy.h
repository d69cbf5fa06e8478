/* Random bytes that nobody can guess: names, cookies, nonces. */
#ifndef DOME_SRC_SYSTEM_ENTROPY_H
#define DOME_SRC_SYSTEM_ENTROPY_H

#include <stdbool.h>
#include <stddef.h>

/* From the system call, or, where the system refuses it, from /dev/urandom. False: there are none (errno). */
bool dome__random(void *to, size_t bytes);

#endif
