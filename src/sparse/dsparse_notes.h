/* The ways that were chosen for transposed products of sparse matrices, for the profile. */
#ifndef DOME_SRC_DSPARSE_NOTES_H
#define DOME_SRC_DSPARSE_NOTES_H

#include "core/environment.h"

#include <stdio.h>

/* Prints a line for each matrix and way. */
void dsparse__profile(const dome_env *env, FILE *file);

void dsparse__notes_free(dome_sparse_notes *notes);

#endif
