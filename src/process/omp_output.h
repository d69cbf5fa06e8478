/* What threads of a region print, on whatever task: it appears once, as if task 0 had printed it. Where the tasks meet, the
 * others hand over what their threads have printed since, and task 0 prints that in the order of the tasks, which is that of the
 * threads.
 *
 *     task 1: printf  -->  a file without a name  --meet-->  memory that all tasks share  -->  task 0's standard output
 */
#ifndef DOME_SRC_PROCESS_OMP_OUTPUT_H
#define DOME_SRC_PROCESS_OMP_OUTPUT_H

#include <stddef.h>

/* A task other than 0: from now on its standard output is kept. */
void dome__omp_output_begin(void);

/* Before the tasks meet, and after. In the task's own context, when no thread of the program runs. */
void dome__omp_output_give(void);
void dome__omp_output_print(void);

/* What is left goes where the output went before. */
void dome__omp_output_end(void);

/* A copy of what is not handed over yet, *bytes of it (g_free'd); and showing it where task 0 cannot: on the standard error,
 * which is shown of all tasks. That may be done on any thread. */
char *dome__omp_output_kept(size_t *bytes);
void dome__omp_output_show(const char *text, size_t bytes);

#endif
