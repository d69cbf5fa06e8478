/* Fibres: virtual threads that one kernel thread runs in turns. Each has a stack and a static TLS of its own, at fixed addresses:
 * those of a real thread of the C library that was created there and sleeps for ever. A switch changes the stack pointer, the
 * registers that a function must keep, the floating-point modes and the thread pointer, without a system call where the kernel
 * lets programs write the thread pointer.
 *
 *     fibre a                                fibre b
 *     dome__omp_fibre_switch(&a, &b)  --->   goes on after its last switch
 */
#ifndef DOME_SRC_OPENMP_FIBRE_H
#define DOME_SRC_OPENMP_FIBRE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct dome_omp_fibre {
    void *stack;          /* saved stack pointer */
    void *thread_pointer; /* FS base */
} dome_omp_fibre;

/* Makes the sleeping thread whose stack ends at `end`, with `bytes` bytes of which the lowest are a guard. The first switch to
 * the fibre calls `entry`, which never returns. Maps the stack where nothing is mapped yet. 0, or the number of the error. */
int dome__omp_fibre_make(dome_omp_fibre *fibre, char *end, size_t bytes, void (*entry)(void));

/* Whether this task may access the part of a stack that functions use, of `bytes` bytes and made by dome__omp_fibre_make: not the
 * thread's variables above it. 0, or the number of the error. */
int dome__omp_fibre_permit(const dome_omp_fibre *fibre, char *end, size_t bytes, bool permitted);

/* A fibre on a stack of its own that has the thread pointer of the caller. */
void dome__omp_fibre_beside(dome_omp_fibre *fibre, char *stack, size_t bytes, void (*entry)(void));

/* The caller becomes `from` and goes on as `to`. */
void dome__omp_fibre_switch(dome_omp_fibre *from, dome_omp_fibre *to);

/* The modes of the processor's floating-point units, and setting them. */
uint64_t dome__omp_float_modes(void);
void dome__omp_float_modes_set(uint64_t modes);

static inline void *dome__omp_thread_pointer(void)
{
    void *pointer;
    __asm__("movq %%fs:0, %0" : "=r"(pointer));
    return pointer;
}

#endif
