/* The option --between of the programs whose checkpoints are measured: mmsave.c, mmregion.c. */
#ifndef MM_BETWEEN_H
#define MM_BETWEEN_H

#include "mm.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Takes --between N out of the arguments: products from one call of dome_checkpoint to the next (1). 0: it is no such number,
 * which is said on standard error if `speak`. */
static inline int mm_take_between(int *argc, char **argv, bool speak)
{
    int between = 1;
    for (int i = 1; i + 1 < *argc; i++)
        if (strcmp(argv[i], "--between") == 0) {
            between = atoi(argv[i + 1]);
            memmove(argv + i, argv + i + 2, (size_t)(*argc - i - 1) * sizeof *argv);
            *argc -= 2;
            break;
        }
    if (between < 1 && speak)
        fprintf(stderr, "%s: --between is not a number of 1 or more\n", argv[0]);
    return between < 1 ? 0 : between;
}

#endif
