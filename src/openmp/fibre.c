#include "openmp/fibre.h"
#include "openmp/places.h"

#include <asm/prctl.h>
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

/* In AT_HWCAP2: the kernel lets programs write the thread pointer (since Linux 5.9). */
#define HWCAP2_FSGSBASE 2

/* from: rdi, to: rsi, whether wrfsbase may be used: edx. The order on the stack is that of `frame`. */
__asm__(".pushsection .text\n"
        ".type dome__omp_fibre_exchange, @function\n"
        ".hidden dome__omp_fibre_exchange\n"
        ".globl dome__omp_fibre_exchange\n"
        "dome__omp_fibre_exchange:\n"
        "    .cfi_startproc\n"
        "    pushq %rbp\n    pushq %rbx\n    pushq %r12\n    pushq %r13\n    pushq %r14\n    pushq %r15\n"
        "    subq $8, %rsp\n"
        "    stmxcsr (%rsp)\n"
        "    fnstcw 4(%rsp)\n"
        "    movq %rsp, (%rdi)\n"
        "    movq 8(%rdi), %rcx\n"
        "    movq (%rsi), %rsp\n"
        "    movq 8(%rsi), %rax\n"
        "    cmpq %rax, %rcx\n"
        "    je 2f\n"
        "    testl %edx, %edx\n"
        "    je 1f\n"
        "    wrfsbase %rax\n"
        "    jmp 2f\n"
        "1:  movq %rax, %rsi\n"
        "    movl $0x1002, %edi\n" /* ARCH_SET_FS; it cannot fail for an address that was the thread pointer of a thread */
        "    movl $158, %eax\n"    /* arch_prctl */
        "    syscall\n"
        "2:  ldmxcsr (%rsp)\n"
        "    fldcw 4(%rsp)\n"
        "    addq $8, %rsp\n"
        "    popq %r15\n    popq %r14\n    popq %r13\n    popq %r12\n    popq %rbx\n    popq %rbp\n"
        "    ret\n"
        "    .cfi_endproc\n"
        ".size dome__omp_fibre_exchange, .-dome__omp_fibre_exchange\n"
        /* Where a fibre begins: nobody called it, so searches of the stack (exceptions, debuggers) end here. */
        ".type dome__omp_fibre_begin, @function\n"
        ".hidden dome__omp_fibre_begin\n"
        ".globl dome__omp_fibre_begin\n"
        "dome__omp_fibre_begin:\n"
        "    .cfi_startproc\n"
        "    .cfi_undefined rip\n"
        "    xorl %ebp, %ebp\n"
        "    callq *%r12\n"
        "    ud2\n"
        "    .cfi_endproc\n"
        ".size dome__omp_fibre_begin, .-dome__omp_fibre_begin\n"
        ".popsection\n");

void dome__omp_fibre_exchange(dome_omp_fibre *from, dome_omp_fibre *to, int fsgsbase);
void dome__omp_fibre_begin(void);

_Static_assert(ARCH_SET_FS == 0x1002 && SYS_arch_prctl == 158, "the numbers in the code above");

typedef struct frame {
    uint32_t mxcsr;
    uint16_t x87, unused;
    void *r15, *r14, *r13, *r12, *rbx, *rbp;
    void (*next)(void);
    void *end[2]; /* aligned as before a call */
} frame;

static int may_write_thread_pointer(void)
{
    static int known = -1;
    if (known < 0)
        known = (getauxval(AT_HWCAP2) & HWCAP2_FSGSBASE) != 0;
    return known;
}

void dome__omp_fibre_switch(dome_omp_fibre *from, dome_omp_fibre *to)
{
    dome__omp_fibre_exchange(from, to, may_write_thread_pointer());
}

uint64_t dome__omp_float_modes(void)
{
    uint16_t x87;
    __asm__ volatile("fnstcw %0" : "=m"(x87));
    return (uint64_t)x87 << 32 | __builtin_ia32_stmxcsr();
}

void dome__omp_float_modes_set(uint64_t modes)
{
    uint16_t x87 = (uint16_t)(modes >> 32);
    __builtin_ia32_ldmxcsr((uint32_t)modes);
    __asm__ volatile("fldcw %0" : : "m"(x87));
}

/* The first switch to the fibre returns to `begin`, which calls `entry`. */
static void set_up(dome_omp_fibre *fibre, char *top, void (*entry)(void))
{
    uint64_t modes = dome__omp_float_modes();
    frame *first = (frame *)(((uintptr_t)top & ~(uintptr_t)15) - sizeof(frame));
    *first = (frame){.mxcsr = (uint32_t)modes, .x87 = (uint16_t)(modes >> 32), .next = dome__omp_fibre_begin};
    __builtin_memcpy(&first->r12, &entry, sizeof entry);
    fibre->stack = first;
}

void dome__omp_fibre_beside(dome_omp_fibre *fibre, char *stack, size_t bytes, void (*entry)(void))
{
    fibre->thread_pointer = dome__omp_thread_pointer();
    set_up(fibre, stack + bytes, entry);
}

/* ---- threads that sleep ---- */

/* Below this the fibre's stack begins: enough for what the dynamic linker saves when it looks up `pause`. */
enum { ROOM_OF_SLEEPER = 1 << 14 };

typedef struct making {
    dome_omp_fibre *fibre;
    void (*entry)(void);
    sem_t made;
} making;

static void *sleep_for_ever(void *argument)
{
    making *m = argument;
    m->fibre->thread_pointer = dome__omp_thread_pointer();
    set_up(m->fibre, (char *)__builtin_frame_address(0) - ROOM_OF_SLEEPER, m->entry);
    sem_post(&m->made); /* from here on *m may be gone */
    for (;;)
        pause();
    return NULL;
}

/* Signals are for the kernel thread that runs the fibres. */
static int create(pthread_t *thread, const pthread_attr_t *attributes, making *m)
{
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int error = pthread_create(thread, attributes, sleep_for_ever, m);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return error;
}

static int map_stack(char *low, size_t bytes)
{
    void *got = mmap(low, bytes, PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK | MAP_FIXED_NOREPLACE, -1, 0);
    if (got == MAP_FAILED)
        return errno == EEXIST ? 0 : errno;
    if (got != low) /* a kernel older than MAP_FIXED_NOREPLACE */
        return munmap(got, bytes) ? errno : EEXIST;
    return mprotect(low, DOME_OMP_GUARD_BYTES, PROT_NONE) ? errno : 0;
}

/* Stacks whose ends are at different pages begin at different lines of theirs. */
static size_t left_out(const char *end)
{
    return ((uintptr_t)end >> 12) % 64 * 64;
}

int dome__omp_fibre_make(dome_omp_fibre *fibre, char *end, size_t bytes, void (*entry)(void))
{
    making m = {.fibre = fibre, .entry = entry};
    pthread_attr_t attributes;
    pthread_t thread;
    int error = map_stack(end - bytes, bytes);
    if (error)
        return error;
    if (sem_init(&m.made, 0, 0) || (error = pthread_attr_init(&attributes)))
        return error ? error : errno;
    error = pthread_attr_setstack(&attributes, end - bytes + DOME_OMP_GUARD_BYTES, bytes - DOME_OMP_GUARD_BYTES - left_out(end));
    if (!error)
        error = pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    if (!error)
        error = create(&thread, &attributes, &m);
    while (!error && sem_wait(&m.made))
        ;
    pthread_attr_destroy(&attributes);
    sem_destroy(&m.made);
    return error;
}

int dome__omp_fibre_permit(const dome_omp_fibre *fibre, char *end, size_t bytes, bool permitted)
{
    const uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE) - 1;
    char *low = end - bytes + DOME_OMP_GUARD_BYTES;
    char *high = (char *)(((uintptr_t)fibre->stack + page) & ~page); // NOLINT(performance-no-int-to-ptr): in the sleeper's room
    return mprotect(low, (size_t)(high - low), permitted ? PROT_READ | PROT_WRITE : PROT_NONE) ? errno : 0;
}
