/* The library's one handler of SIGSEGV and SIGBUS. Parts that may know the address stand in a table and are asked in its order; a
 * handler that the program had installed gets what none of them knows. It runs on the alternate stack, where the thread has one,
 * with other signals blocked, and keeps errno. */
#ifndef DOME_SRC_SYSTEM_FAULT_H
#define DOME_SRC_SYSTEM_FAULT_H

#include <signal.h>
#include <stdbool.h>

typedef struct dome_fault {
    int signal;
    bool access; /* the processor noticed an access to `address`; false: a process sent the signal */
    enum { DOME_FAULT_READ, DOME_FAULT_WRITE, DOME_FAULT_UNKNOWN } kind;
    char *address;
    const siginfo_t *info;
    void *context; /* ucontext_t */
} dome_fault;

typedef enum dome_fault_answer {
    DOME_FAULT_OTHERS, /* it is not mine: the next one is asked */
    DOME_FAULT_MENDED, /* the access is repeated */
} dome_fault_answer;

/* Runs in the signal handler. */
typedef dome_fault_answer dome_fault_handler(const dome_fault *fault, void *context);

/* In the order in which they are asked. */
typedef enum dome_fault_place {
    DOME_FAULT_OF_MEMORY,  /* pages that this task has no right to */
    DOME_FAULT_OF_POINTER, /* pointers that are out of date */
    DOME_FAULT_OF_PROCESS, /* pointers to what is another task's */
    DOME_FAULT_IS_LAST,    /* tells which signal ends the task; asked if the program has no handler, and for signals that were
                              sent, too */
    DOME_FAULT_PLACES,
} dome_fault_place;

/* Enters a handler. Takes the signals over if the program, or a sanitizer, handles them by now; for DOME_FAULT_IS_LAST, only if
 * nobody does. To be called by one thread at a time. */
void dome__fault_on(dome_fault_place place, dome_fault_handler *handler, void *context);

/* Takes it out. The last one to leave gives the signals back. */
void dome__fault_off(dome_fault_place place);

/* As sigaction, for a program's handler while this one stays: it gets what none of the parts knows. false, and nothing is done:
 * the signal is not handled here. */
bool dome__fault_hands_on(int number, const struct sigaction *action, struct sigaction *before);

/* The calling thread gets an alternate stack on which handlers can fetch what is missing, unless it has one; *stack: what to give
 * to the second function, or NULL. NULL is returned, or why not: a static text. */
const char *dome__fault_stack_begin(void **stack);
void dome__fault_stack_end(void *stack);

#endif
