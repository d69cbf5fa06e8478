/* What programs call by Dome's names: dome-omp writes these calls where a program flushes. */
#include <dome/openmp.h>

#include "openmp/turn.h"

void dome_omp_flush(void)
{
    dome__omp_flush_from(__builtin_return_address(0));
}

/* The same as Fortran calls it. */
void dome_omp_flush_(void);
void dome_omp_flush_(void)
{
    dome__omp_flush_from(__builtin_return_address(0));
}
