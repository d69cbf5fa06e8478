/* For OpenMP programs that dome-omp compiles (docs/openmp.md). They need nothing of this file: dome-omp makes the calls. */
#ifndef DOME_OPENMP_H
#define DOME_OPENMP_H

#ifdef __cplusplus
extern "C" {
#endif

/* What this thread has written is published, and what others have published is taken in: "#pragma omp flush". A file that is not
 * compiled by dome-omp calls it where it flushes. */
void dome_omp_flush(void);

#ifdef __cplusplus
}
#endif

#endif
