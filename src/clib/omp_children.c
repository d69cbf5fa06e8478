/* Functions of the C library that begin processes and threads. Meanwhile they block all signals, those of faults among them, and
 * the stack of thread 0 is memory that other tasks fetch, which closes its pages. So they are called on a stack of the task's
 * own; all else, as the thread pointer, stays that of the thread. */
#include "clib/omp_call.h"

#include "openmp/tasks.h"

#include <pthread.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

static void touch_texts(char *const *texts)
{
    for (; texts && *texts; texts++)
        TEXT(*texts);
}

static void call_on(void *top, void (*call)(void *), void *argument)
{
    __asm__ volatile("movq %%rsp, %%rbx\n\t"
                     "movq %[top], %%rsp\n\t"
                     "call *%[call]\n\t"
                     "movq %%rbx, %%rsp"
                     : "+D"(argument)
                     : [top] "r"(top), [call] "r"(call)
                     : "rbx", "rax", "rcx", "rdx", "rsi", "r8", "r9", "r10", "r11", "memory", "cc");
}

/* Registers of numbers are the caller's to save: not inlined, this function is such a call. */
static void __attribute__((noinline)) on_own_stack(void (*call)(void *), void *argument)
{
    enum { BYTES = 1 << 18 };
    static char *stack;
    static bool is_used; /* a signal handler may call, too */
    if (!stack) {
        char *new = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        stack = new == MAP_FAILED ? NULL : new;
    }
    if (!stack || is_used || !dome__omp_touches() || dome__omp_tasks.size == 1 ||
        !dome__omp_tasks.is_shared(__builtin_frame_address(0))) {
        call(argument);
        return;
    }
    is_used = true;
    call_on(stack + BYTES, call, argument);
    is_used = false;
}

/* ---- children ---- */

typedef struct line {
    const char *line, *mode;
    int result;
    FILE *stream;
} line;

typedef int system_function(const char *line);
typedef FILE *popen_function(const char *line, const char *mode);

static void touch_line(const line *l)
{
    if (!dome__omp_touches())
        return;
    TEXT(l->line);
    TEXT(l->mode);
    touch_texts(environ);
}

static void call_system(void *argument)
{
    line *l = argument, own = *l; /* here, where no page has to be fetched */
    own.result = ((system_function *)dome__omp_next("system"))(own.line);
    l->result = own.result;
}

static void call_popen(void *argument)
{
    line *l = argument, own = *l;
    own.stream = ((popen_function *)dome__omp_next("popen"))(own.line, own.mode);
    l->stream = own.stream;
}

system_function own_system __asm__("dome__c_system");
int own_system(const char *text)
{
    line l = {.line = text};
    touch_line(&l);
    on_own_stack(call_system, &l);
    return l.result;
}

popen_function own_popen __asm__("dome__c_popen");
FILE *own_popen(const char *text, const char *mode)
{
    line l = {.line = text, .mode = mode};
    touch_line(&l);
    on_own_stack(call_popen, &l);
    return l.stream;
}

typedef int spawn_function(pid_t *child, const char *path, const posix_spawn_file_actions_t *actions,
                           const posix_spawnattr_t *attributes, char *const *arguments, char *const *environment);

typedef struct spawn {
    spawn_function *next;
    pid_t child;
    const char *path;
    const posix_spawn_file_actions_t *actions;
    const posix_spawnattr_t *attributes;
    char *const *arguments, *const *environment;
    int result;
} spawn;

static void call_spawn(void *argument)
{
    spawn *s = argument, own = *s;
    own.result = own.next(&own.child, own.path, own.actions, own.attributes, own.arguments, own.environment);
    *s = own;
}

static int spawn_by(const char *name, pid_t *child, spawn s)
{
    s.next = (spawn_function *)dome__omp_next(name);
    if (dome__omp_touches()) {
        TEXT(s.path);
        touch_texts(s.arguments);
        touch_texts(s.environment);
    }
    on_own_stack(call_spawn, &s);
    if (child && s.result == 0)
        *child = s.child;
    return s.result;
}

spawn_function own_posix_spawn __asm__("dome__c_posix_spawn");
int own_posix_spawn(pid_t *child, const char *path, const posix_spawn_file_actions_t *actions,
                    const posix_spawnattr_t *attributes, char *const *arguments, char *const *environment)
{
    return spawn_by(
        "posix_spawn", child,
        (spawn){.path = path, .actions = actions, .attributes = attributes, .arguments = arguments, .environment = environment});
}

spawn_function own_posix_spawnp __asm__("dome__c_posix_spawnp");
int own_posix_spawnp(pid_t *child, const char *path, const posix_spawn_file_actions_t *actions,
                     const posix_spawnattr_t *attributes, char *const *arguments, char *const *environment)
{
    return spawn_by(
        "posix_spawnp", child,
        (spawn){.path = path, .actions = actions, .attributes = attributes, .arguments = arguments, .environment = environment});
}

/* ---- threads ---- */

typedef int create_function(pthread_t *thread, const pthread_attr_t *attributes, void *(*run)(void *), void *argument);

typedef struct creation {
    pthread_t thread;
    const pthread_attr_t *attributes;
    void *(*run)(void *);
    void *argument;
    int result;
} creation;

static void call_create(void *argument)
{
    creation *c = argument, own = *c;
    own.result = ((create_function *)dome__omp_next("pthread_create"))(&own.thread, own.attributes, own.run, own.argument);
    *c = own;
}

create_function own_pthread_create __asm__("dome__c_pthread_create");
int own_pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*run)(void *), void *argument)
{
    creation c = {.attributes = attributes, .run = run, .argument = argument};
    on_own_stack(call_create, &c);
    if (c.result == 0)
        *thread = c.thread;
    return c.result;
}
