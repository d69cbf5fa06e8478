/* What programs call by Dome's names: dome-omp writes these calls where a program flushes. */
#include <dome/openmp.h>

#include "openmp/spin.h"
#include "openmp/turn.h"

/* A thread that flushes again and again waits for what another one is to write. */
void dome_omp_flush(void)
{
    static const char a_flush;
    dome__omp_flush_all();
    dome__omp_looked(dome__omp_self(), &a_flush, 0);
}

/* The same as Fortran calls it. */
void dome_omp_flush_(void);
void dome_omp_flush_(void)
{
    dome_omp_flush();
}
