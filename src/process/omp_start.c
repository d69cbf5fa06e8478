#include "process/omp_names.h"

#include "process/omp_start.h"

#include "openmp/fibre.h"
#include "openmp/icv.h"
#include "openmp/places.h"
#include "openmp/shared.h"
#include "openmp/team.h"
#include "process/omp_arena.h"
#include "process/omp_arguments.h"
#include "process/omp_heap.h"
#include "process/omp_image.h"
#include "process/omp_layout.h"
#include "process/omp_locals.h"
#include "process/omp_next.h"
#include "process/omp_output.h"
#include "process/omp_saved.h"
#include "process/omp_state.h"
#include "process/omp_touch.h"
#include "process/omp_watch.h"
#include "process/omp_worker.h"
#include "process/tasks_space.h"
#include "program/start.h"
#include "races/races.h"
#include "system/say.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { DUMPED = 32 << 20 }; /* bytes of main's stack, and of thread 0's heap, that belong to a core file */

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
    void *thread_pointer;
    char *stack_end; /* of main's, as far as it is shared */
    bool goes_on;    /* from where it was saved */
} state;

dome_env *dome__omp_env(void)
{
    return state.env;
}

/* ---- the end ---- */

static bool is_own_process(void)
{
    return state.env && state.process == getpid();
}

/* Whether the caller is a virtual thread. */
static bool is_programs_thread(void)
{
    return is_own_process() && dome__omp_by_thread();
}

static void end_task(void *status)
{
    dome_env *env = g_steal_pointer(&state.env);
    if (env->rank == 0)
        dome__omp_tasks.end();
    dome__omp_races_end();
    dome__omp_tasks.saves = false;
    dome__omp_tasks.size = 1; /* regions in what the program has registered for its end are this task's alone */
    *(int *)status = dome_finalize(env);
}

typedef struct leaving {
    int status;
    bool at_once;
} leaving;

static void end_region(void *argument)
{
    const leaving *l = argument;
    dome__omp_end_region(l->status, l->at_once);
}

/* A thread that ends the program inside of a region ends it in task 0's process. */
static void leave_region(int status, bool at_once)
{
    leaving l = {status, at_once};
    if (!is_programs_thread() || dome__omp_tasks.size == 1 || dome__omp_self()->team->active_level == 0)
        return;
    dome__omp_call_task(end_region, &l);
    dome__omp_leave_region(dome__omp_self());
}

/* The program has ended by exit, or by returning from main: after its destructors, before those of the libraries that libdome-omp
 * stands on. */
__attribute__((destructor)) static void end_program(void)
{
    int failed = 0;
    if (!is_programs_thread())
        return;
    dome__omp_call_task(end_task, &failed);
    if (failed) {
        fflush(NULL);
        _exit(failed);
    }
}

void exit(int status)
{
    leave_region(status, false);
    /* Dome cannot go on. What the program has registered is not for the task to call: it would be on another stack. */
    if (is_own_process() && dome__omp_thread_pointer() == state.thread_pointer) {
        dome__omp_output_end();
        fflush(NULL);
        _exit(status);
    }
    ((void (*)(int))dome__omp_next("exit"))(status);
    __builtin_unreachable();
}

void dome__omp_exit_at_once(int status)
{
    int failed = 0;
    dome__omp_call_task(end_task, &failed);
    for (;;)
        syscall(SYS_exit_group, failed ? failed : status);
}

/* Without the program's destructors, but not without the other tasks. */
void _exit(int status)
{
    if (is_programs_thread() && dome__omp_is_programs(__builtin_return_address(0))) {
        leave_region(status, true);
        dome__omp_exit_at_once(status);
    }
    for (;;)
        syscall(SYS_exit_group, status);
}

void _Exit(int status) __attribute__((alias("dome__c__exit")));

static int quick_status;

/* After all functions that the program has given to at_quick_exit. */
static void end_quickly(void)
{
    if (is_programs_thread())
        dome__omp_exit_at_once(quick_status);
}

/* Inside of a region without them: the C library of another task has not been given any. */
void quick_exit(int status)
{
    quick_status = status;
    leave_region(status, true);
    ((void (*)(int))dome__omp_next("quick_exit"))(status);
    __builtin_unreachable();
}

/* ---- children ---- */

typedef struct fork_result {
    pid_t child;
    int error;
} fork_result;

/* On the task's stack: the child copies shared memory, the caller's stack among it, which must not change meanwhile. */
static void fork_on_task(void *result)
{
    fork_result *r = result;
    dome__omp_collect(); /* the child cannot fetch */
    r->child = ((pid_t(*)(void))dome__omp_next("fork"))();
    r->error = errno;
    if (r->child == 0) { /* it is no task: the others know nothing of it */
        dome__omp_tasks.size = 1;
        dome__omp_watcher = NULL;
    }
}

pid_t fork(void)
{
    fork_result r;
    if (!is_programs_thread())
        return ((pid_t(*)(void))dome__omp_next("fork"))();
    dome__omp_call_task(fork_on_task, &r);
    if (r.child < 0)
        errno = r.error;
    return r.child;
}

/* ---- what tasks share ---- */

static char *page_below(void *address)
{
    return (char *)((uintptr_t)address & ~(uintptr_t)(sysconf(_SC_PAGESIZE) - 1)); // NOLINT(performance-no-int-to-ptr)
}

static bool is_mapped(char *begin, char *end)
{
    (void)begin;
    (void)end;
    return true; /* all of the heap is a range */
}

/* Terabytes in which hardly anything is: to write a core file the system would make each page. Whole ranges only: a range is one
 * mapping, or its pages could not change their rights together. */
static void leave_out(const dome_space_range *range)
{
    if (madvise(range->address, range->bytes, MADV_DONTDUMP))
        dome__say("a core file of task %d may take long: %s", state.env->rank, strerror(errno));
}

/* Of main's stack: with one task, as many as the user allows. A place for the most is kept below the other stacks. */
static size_t first_stack_bytes(void)
{
    const uint64_t least = UINT64_C(64) << 20, most = UINT64_C(16) << 30;
    struct rlimit limit;
    if (state.env->size > 1 || getrlimit(RLIMIT_STACK, &limit) || limit.rlim_cur > most)
        return most;
    return limit.rlim_cur < least ? least : (size_t)limit.rlim_cur & ~(size_t)0xffff;
}

char *dome__omp_first_stack_low(void)
{
    return dome__omp_stack_end(0) - first_stack_bytes() + DOME_OMP_GUARD_BYTES;
}

char *dome__omp_first_stack_end(void)
{
    return state.stack_end;
}

/* From the guard up to where the first frame of the program will be: above are thread-local memory and what the C library keeps.
 * The part that is in core files, and then the one that is not. */
static void first_stack(dome_space_range *ranges)
{
    char *low = dome__omp_first_stack_low(), *middle = state.stack_end - DUMPED;
    ranges[0] = (dome_space_range){"stack of main", middle, DUMPED, .keep = false};
    ranges[1] = (dome_space_range){"stack of main, if it is deep", low, (uint64_t)(middle - low), .keep = false};
}

/* Likewise. */
static void first_heap(dome_space_range *ranges)
{
    char *begin = dome__omp_arena_begin(0);
    ranges[0] = (dome_space_range){"heap of thread 0", begin, DUMPED, .keep = false};
    ranges[1] =
        (dome_space_range){"heap of thread 0, if it is large", begin + DUMPED, DOME_OMP_ARENA_FIRST - DUMPED, .keep = false};
}

/* Zeros need not be kept. Returns the number of ranges. */
static unsigned variables(int part, dome_space_range *ranges)
{
    const dome_omp_part *p = &dome__omp_image()->variables[part];
    char *end = dome__omp_image_contents_end(part);
    unsigned n = 0;
    if (end > p->begin)
        ranges[n++] = (dome_space_range){"variables", p->begin, (uint64_t)(end - p->begin), .keep = true};
    if (end < p->end)
        ranges[n++] = (dome_space_range){"variables", end, (uint64_t)(p->end - end), .keep = false};
    return n;
}

static void share(dome_env *env)
{
    enum { MOST = 2 * DOME_OMP_IMAGE_PARTS + 7 };
    const dome_omp_part arguments = dome__omp_arguments_part();
    dome_space_range ranges[MOST];
    unsigned n = 0;
    for (int k = 0; k < dome__omp_image()->parts; k++)
        n += variables(k, ranges + n);
    ranges[n++] = (dome_space_range){"arguments", arguments.begin, (uint64_t)(arguments.end - arguments.begin), .keep = true};
    first_stack(ranges + n);
    first_heap(ranges + n + 2);
    ranges[n + 4] = (dome_space_range){"heap of other threads", dome__omp_arena_begin(1),
                                       (DOME_OMP_MAX_THREADS - 1) * DOME_OMP_ARENA_OTHER, .keep = false};
    const dome_space_range *left_out[] = {ranges + n + 1, ranges + n + 3, ranges + n + 4};
    n += 5;
    ranges[n] = dome__omp_locals_range();
    n += ranges[n].bytes > 0;
    dome__omp_arena_map = is_mapped;
    dome__omp_arena_gives_back = false;
    if (env->size > DOME_OMP_MAX_TASKS)
        dome__start_failed(env, 1, g_strdup_printf("an OpenMP program can have %d tasks at most", DOME_OMP_MAX_TASKS));
    if (dome__omp_tasks_begin(env, ranges, n))
        dome__start_failed(env, 1, dome_error_message(env));
    for (size_t k = 0; k < sizeof left_out / sizeof *left_out; k++)
        leave_out(left_out[k]);
}

/* ---- the beginning ---- */

/* The C library's function, whose frame, and those of main, are in whole pages that tasks share. */
static void run_program(void *unused)
{
    (void)unused;
    char *here = __builtin_frame_address(0);
    volatile char *room = __builtin_alloca((size_t)(here - page_below(here)) + 256);
    *room = 0;
    ((start_function *)dome__omp_next("__libc_start_main"))(given.main, given.argc, given.argv, given.init, given.fini,
                                                            given.loader_fini, given.stack_end);
    __builtin_unreachable(); /* it has called exit */
}

/* Without the program's destructors: its objects are task 0's. */
static void end_other(void) __attribute__((noreturn));

static void end_other(void)
{
    int status;
    dome__omp_output_end();
    end_task(&status);
    fflush(NULL);
    _exit(status);
}

static void become_other(void) __attribute__((noreturn));

static void become_other(void)
{
    dome__omp_output_begin();
    dome__omp_serve();
    end_other();
}

void dome__omp_become_other(void)
{
    dome_omp_fork fork;
    while (dome__omp_tasks.await_fork(&fork))
        ; /* a region of the end is task 0's alone */
    end_other();
}
static void begin(void)
{
    dome__omp_heap_begin();
    dome__omp_image_describe();
    dome__omp_in_library = dome__omp_image_has_not;
    dome_env *env = state.env = dome_init(&given.argc, &given.argv);
    dome__second_init = "dome_init: an OpenMP program by dome-omp has its tasks already, and calls no Dome functions";
    state.process = getpid();
    if (env->rank == 0 && at_quick_exit(end_quickly))
        dome__start_failed(env, 1, g_strdup("no memory for the program's end"));
    state.thread_pointer = dome__omp_thread_pointer();
    given.argv = dome__omp_arguments_place(env, &given.argc, given.argv);
    dome__omp_image_compare(env);
    dome__omp_arena_own += (uint64_t)env->rank * DOME_OMP_ARENA_OWN;
    if (env->rank != 0 || dome_is_restarting(env))
        dome__omp_image_construct(given.argc, given.argv, given.argv + given.argc + 1);
    if (env->size == 1 && env->options.omp_races)
        dome__omp_watch_heap();
    if (env->rank != 0)
        dome__omp_environment_mute();
    dome__omp_first_make(first_stack_bytes());
    state.stack_end = page_below(dome__omp_threads[0].fibre.stack);
    if (env->size > 1)
        share(env);
    state.goes_on = dome__omp_saved_begin(env);
    if (env->options.omp_races)
        dome__omp_watch_begin(env, state.stack_end);
    dome__omp_worker_begin(env);
    dome__omp_layout_begin(env);
}

/* What the C library's function does before main it has done in another process; only the end must be told to it. */
static void go_on(void)
{
    extern int __cxa_atexit(void (*function)(void *), void *argument, void *object);
    if (__cxa_atexit((void (*)(void *))(void *)given.loader_fini, NULL, NULL))
        dome__start_failed(state.env, 1, g_strdup("no memory for the program's end"));
    dome__omp_exits_enter();
    dome__omp_run_on();
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
    if (state.env->rank != 0)
        become_other();
    if (state.goes_on)
        go_on();
    dome__omp_run_main(run_program, NULL);
    return 1;
}
