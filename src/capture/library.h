/* State that the C library keeps for the program. */
#ifndef DOME_SRC_CAPTURE_LIBRARY_H
#define DOME_SRC_CAPTURE_LIBRARY_H

#include <fenv.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    DOME_CAPTURE_RANDOM_NUMBERS = 31,
    DOME_CAPTURE_AT_EXIT_MOST = 64,
    DOME_CAPTURE_SIGNALS = 65,
    DOME_CAPTURE_LOCALE_MOST = 512
};

/* The state of library.c. What the image gets of it stands in a table there. */
typedef struct dome_capture_library {
    unsigned kept; /* DOME_CAPTURE_KEEP_ */
    uint32_t numbers[DOME_CAPTURE_RANDOM_NUMBERS + 1];
    uint64_t state48;
    char *strtok_rest;
    void (*at_exit[DOME_CAPTURE_AT_EXIT_MOST])(void);
    unsigned at_exit_count;
    bool calls_at_exit; /* this process */

    /* The program's own actions for signals; signals for which it has set none are not touched. */
    void (*handlers[DOME_CAPTURE_SIGNALS])(int);
    unsigned long long blocked[DOME_CAPTURE_SIGNALS]; /* meanwhile: bit n - 1 for signal n */
    int how[DOME_CAPTURE_SIGNALS];                    /* flags */
    unsigned char handled[DOME_CAPTURE_SIGNALS];
    struct sigaction own[DOME_CAPTURE_SIGNALS]; /* Dome's actions, where the program has set others */

    fenv_t floating; /* the whole, while this process writes */
    bool has_floating;
    unsigned rounding, raised, trapped; /* the same in numbers that are alike on all machines */

    int error;
    char locale[DOME_CAPTURE_LOCALE_MOST]; /* of all categories, as setlocale names them; empty: not saved */
    unsigned mask_of_files;
    unsigned long long mask_of_signals;

    char *line; /* of getdelim: the C library's */
    size_t line_room;
} dome_capture_library;

/* errno, before the image is taken and before the program resumes. */
void dome__capture_library_save(void);
void dome__capture_library_restore(void);

/* The saved one; NULL: it is not kept. */
int *dome__capture_library_errno(void);

#endif
