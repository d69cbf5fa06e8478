#include "openmp/omp_start.h"

#include "openmp/fibre.h"
#include "openmp/omp_arguments.h"
#include "openmp/omp_heap.h"
#include "openmp/omp_image.h"
#include "openmp/omp_next.h"
#include "openmp/omp_worker.h"
#include "openmp/places.h"
#include "openmp/tasks.h"
#include "program/start.h"
#include "system/say.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

typedef int main_function(int argc, char **argv, char **environment);
typedef int start_function(main_function *main, int argc, char **argv, void (*init)(void), void (*fini)(void),
                           void (*loader_fini)(void), void *stack_end);

/* What ld.so has handed over, for the C library. */
static struct {
    main_function *main;
    int argc;
    char **argv;
    void (*init)(void), (*fini)(void), (*loader_fini)(void);
    void *stack_end;
} given;

static struct {
    dome_env *env;
    pid_t process; /* the task: a child of it (fork) ends by itself */
    dome_omp_fibre task, first;
    void (*call)(void *);
    void *argument;
} state;

dome_env *dome__omp_env(void)
{
    return state.env;
}

/* ---- the task, and the program's first thread ---- */

static bool is_first_thread(void)
{
    return state.env && state.process == getpid() && dome__omp_thread_pointer() == state.first.thread_pointer;
}

/* From the first thread: the task makes the call. */
static void call_on_task(void (*call)(void *), void *argument)
{
    state.call = call;
    state.argument = argument;
    dome__omp_fibre_switch(&state.first, &state.task);
}

static void run_program(void)
{
    start_function *start = (start_function *)dome__omp_next("__libc_start_main");
    start(given.main, given.argc, given.argv, given.init, given.fini, given.loader_fini, given.stack_end);
    __builtin_unreachable(); /* it has called exit */
}

/* As large as the user allows; a place for it is kept below the stacks of the other threads. */
static size_t first_stack_bytes(void)
{
    const uint64_t least = UINT64_C(64) << 20, most = UINT64_C(16) << 30;
    struct rlimit limit;
    if (getrlimit(RLIMIT_STACK, &limit) || limit.rlim_cur > most)
        return most;
    return limit.rlim_cur < least ? least : (size_t)limit.rlim_cur & ~(size_t)0xffff;
}

static void become_first(void)
{
    const int error = dome__omp_fibre_make(&state.first, dome__omp_stack_end(0), first_stack_bytes(), run_program);
    if (error)
        dome__start_failed(state.env, 1, g_strdup_printf("there is no place for the stack of main: %s", g_strerror(error)));
    for (;;) {
        dome__omp_fibre_switch(&state.task, &state.first);
        state.call(state.argument);
    }
}

/* ---- the end ---- */

static void end_task(void *status)
{
    dome_env *env = g_steal_pointer(&state.env);
    if (env->rank == 0)
        dome__omp_tasks.end();
    *(int *)status = dome_finalize(env);
}

/* The program has ended by exit, or by returning from main: after its destructors, before those of the libraries that libdome-omp
 * stands on. */
__attribute__((destructor)) static void end_program(void)
{
    int failed = 0;
    if (!is_first_thread())
        return;
    call_on_task(end_task, &failed);
    if (failed) {
        fflush(NULL);
        _exit(failed);
    }
}

/* Dome cannot go on. What the program has registered by atexit is not for the task to call: it would be on another stack. */
static bool is_task(void)
{
    return state.env && state.process == getpid() && dome__omp_thread_pointer() == state.task.thread_pointer;
}

void exit(int status)
{
    if (is_task()) {
        fflush(NULL);
        _exit(status);
    }
    ((void (*)(int))dome__omp_next("exit"))(status);
    __builtin_unreachable();
}

/* Without the program's destructors, but not without the other tasks. */
void _exit(int status)
{
    int failed = 0;
    if (is_first_thread() && dome__omp_is_programs(__builtin_return_address(0)))
        call_on_task(end_task, &failed);
    for (;;)
        syscall(SYS_exit_group, failed ? failed : status);
}

void _Exit(int status) __attribute__((alias("_exit")));

static void end_other(void) __attribute__((noreturn));

/* Without the program's destructors: its objects are task 0's. */
static void end_other(void)
{
    int status;
    end_task(&status);
    fflush(NULL);
    _exit(status);
}

void dome__omp_end_now(int status, const char *text)
{
    dome__start_failed(state.env, status, text);
}

/* ---- the beginning ---- */

static void become_other(void)
{
    dome__omp_image_construct(given.argc, given.argv, given.argv + given.argc + 1);
    dome__omp_worker();
    end_other();
}

static void begin(void)
{
    dome__omp_heap_begin();
    dome__omp_image_describe();
    dome_env *env = dome_init(&given.argc, &given.argv);
    state.process = getpid();
    state.task.thread_pointer = dome__omp_thread_pointer();
    given.argv = dome__omp_arguments_place(env, &given.argc, given.argv);
    dome__omp_image_compare(env);
    state.env = env;
}

/* In the place of the C library's: it is called where a program begins. */
int __libc_start_main(main_function *main, int argc, char **argv, void (*init)(void), void (*fini)(void),
                      void (*loader_fini)(void), void *stack_end);

int __libc_start_main(main_function *main, int argc, char **argv, void (*init)(void), void (*fini)(void),
                      void (*loader_fini)(void), void *stack_end)
{
    given.main = main;
    given.argc = argc;
    given.argv = argv;
    given.init = init;
    given.fini = fini;
    given.loader_fini = loader_fini;
    given.stack_end = stack_end;
    begin();
    if (state.env->rank == 0)
        become_first();
    else
        become_other();
    return 1;
}
