/* Names of the program's variables and functions, for messages. */
#ifndef DOME_SRC_PROCESS_OMP_SYMBOL_H
#define DOME_SRC_PROCESS_OMP_SYMBOL_H

/* "hist+16", or the address, if the program's file has no table of names; g_free'd. */
char *dome__omp_symbol(const void *address);

#endif
