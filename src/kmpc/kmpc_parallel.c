/* Regions. The compiler makes a function of one, whose arguments are the addresses of the thread's two numbers and of each
 * variable. */
#include <stdarg.h>
#include <string.h>

#include "kmpc/kmpc.h"

typedef void *arg;
typedef void (*function)(int32_t *thread, int32_t *in_team, ...);

enum { MOST_ARGUMENTS = 256 };

typedef struct call {
    function function;
    uint64_t count; /* of arguments, rounded up: those that the function does not have do no harm on x86-64 */
    arg arguments[MOST_ARGUMENTS];
} call;

#define ARGS_4(a)  (a)[0], (a)[1], (a)[2], (a)[3]
#define ARGS_16(a) ARGS_4(a), ARGS_4((a) + 4), ARGS_4((a) + 8), ARGS_4((a) + 12)
#define ARGS_64(a) ARGS_16(a), ARGS_16((a) + 16), ARGS_16((a) + 32), ARGS_16((a) + 48)

static void invoke_256(function f, int32_t *thread, int32_t *in_team, const arg *a)
{
    f(thread, in_team, ARGS_64(a), ARGS_64(a + 64), ARGS_64(a + 128), ARGS_64(a + 192));
}

static void run_call(void *data)
{
    const call *c = data;
    const dome_omp_thread *t = dome__omp_self();
    int32_t thread = (int32_t)dome__omp_thread_id(t), in_team = (int32_t)t->number;
    const arg *a = c->arguments;
    if (c->count <= 4)
        c->function(&thread, &in_team, ARGS_4(a));
    else if (c->count <= 16)
        c->function(&thread, &in_team, ARGS_16(a));
    else if (c->count <= 64)
        c->function(&thread, &in_team, ARGS_64(a));
    else
        invoke_256(c->function, &thread, &in_team, a);
}

static void set_call(call *c, function f, int count, va_list arguments)
{
    if (count > MOST_ARGUMENTS)
        dome__omp_die("OpenMP: a region uses %d variables of the function around it; the most is %d", count, MOST_ARGUMENTS);
    c->function = f;
    c->count = count <= 4 ? 4 : count <= 16 ? 16 : count <= 64 ? 64 : MOST_ARGUMENTS;
    for (int k = 0; k < count; k++)
        c->arguments[k] = va_arg(arguments, arg);
    memset(c->arguments + count, 0, (c->count - (uint64_t)count) * sizeof(arg));
}

void __kmpc_fork_call(const void *place, int32_t count, function f, ...)
{
    dome_omp_thread *t = dome__omp_self();
    call c;
    va_list arguments;
    (void)place;
    va_start(arguments, f);
    set_call(&c, f, count, arguments);
    va_end(arguments);
    dome_omp_region region = {.function = run_call, .data = &c, .threads = t->asked.threads, .place = (uint64_t)(uintptr_t)f};
    t->asked.threads = 0;
    dome__omp_region(&region);
}

/* if(0): the caller is the only thread, and calls the function itself between these two. */
void __kmpc_serialized_parallel(KMPC_PLACE)
{
    dome__kmpc_unused(place, number);
    dome__omp_self()->asked.threads = 0;
    dome__omp_region_start(&(dome_omp_region){.threads = 1});
}

void __kmpc_end_serialized_parallel(KMPC_PLACE)
{
    dome__kmpc_unused(place, number);
    dome__omp_region_end();
}

void __kmpc_push_num_threads(KMPC_PLACE, int32_t threads)
{
    dome__kmpc_unused(place, number);
    dome__omp_self()->asked.threads = threads > 0 ? (unsigned)threads : 0;
}

/* Virtual threads have no processors. */
void __kmpc_push_proc_bind(KMPC_PLACE, int32_t kind)
{
    dome__kmpc_unused(place, number);
    (void)kind;
}

int32_t __kmpc_global_thread_num(const void *place)
{
    (void)place;
    return (int32_t)dome__omp_thread_id(dome__omp_self());
}

/* ---- teams ---- */

void GOMP_teams_reg(void (*f)(void *), void *data, unsigned teams, unsigned thread_limit, unsigned flags);

void __kmpc_push_num_teams(KMPC_PLACE, int32_t teams, int32_t thread_limit)
{
    dome_omp_thread *t = dome__omp_self();
    dome__kmpc_unused(place, number);
    t->asked.teams = teams > 0 ? (unsigned)teams : 0;
    t->asked.thread_limit = thread_limit > 0 ? (unsigned)thread_limit : 0;
}

void __kmpc_fork_teams(const void *place, int32_t count, function f, ...)
{
    dome_omp_thread *t = dome__omp_self();
    const dome_omp_asked asked = t->asked;
    call c;
    va_list arguments;
    (void)place;
    va_start(arguments, f);
    set_call(&c, f, count, arguments);
    va_end(arguments);
    t->asked.teams = t->asked.thread_limit = 0;
    GOMP_teams_reg(run_call, &c, asked.teams, asked.thread_limit, 0);
}

/* ---- the program's beginning and end ---- */

void __kmpc_begin(KMPC_PLACE)
{
    dome__kmpc_unused(place, number);
}

void __kmpc_end(const void *place)
{
    (void)place;
}
