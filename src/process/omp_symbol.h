/* Names of the program's variables and functions, for messages. */
#ifndef DOME_SRC_PROCESS_OMP_SYMBOL_H
#define DOME_SRC_PROCESS_OMP_SYMBOL_H

/* "hist+16", or the address, if the program's file has no table of names; g_free'd. */
char *dome__omp_symbol(const void *address);

/* The same for what threads write: "hist+16", "a block of 800 bytes of the heap of thread 0, at 0x...+16"; bytes: reads memory.
 */
char *dome__omp_symbol_of_data(const void *address, const void *(*bytes)(const void *address));

#endif
