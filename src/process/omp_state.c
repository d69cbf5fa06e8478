#include "process/omp_names.h"

#include "process/omp_state.h"

#include "openmp/tasks.h"
#include "process/omp_arena.h"
#include "process/omp_arguments.h"
#include "process/omp_heap.h"
#include "process/omp_next.h"
#include "process/omp_start.h"
#include "process/omp_touch.h"
#include "system/say.h"

#include <errno.h>
#include <locale.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static uint64_t taken; /* the number of changes when this task took them last, or made one */

dome_omp_state_page *dome__omp_state(void)
{
    return (dome_omp_state_page *)(void *)(dome__omp_arguments_part().end - sizeof(dome_omp_state_page));
}

/* Whether a change by the caller is written down for other tasks, or for a save: only those of virtual threads are. */
static bool is_written(void)
{
    return (dome__omp_tasks.size > 1 || dome__omp_tasks.saves) && dome__omp_by_thread();
}

static dome_omp_state_page *writes(void)
{
    if (!is_written())
        return NULL;
    dome_omp_state_page *s = dome__omp_state();
    taken = s->changes += 1 + (uint64_t)dome__omp_tasks.rank; /* not the number that another task makes at the same time */
    return s;
}

/* ---- what the program changes ---- */

/* The C library changes the list of the environment in place, and gives it texts of the task's own: so it gets a list of its own.
 */
static void keep_environment(void)
{
    static char **list;
    size_t n = 0;
    if (!is_written())
        return;
    while (environ && environ[n])
        n++;
    char **copy = g_renew(char *, list, n + 1);
    for (size_t k = 0; k < n; k++)
        copy[k] = environ[k];
    copy[n] = NULL;
    environ = list = copy;
}

/* The environment that the C library has made anew, as memory that all tasks share. */
static void share_environment(void)
{
    dome_omp_state_page *s = writes();
    if (!s)
        return;
    size_t n = 0, bytes = 0;
    for (; environ && environ[n]; n++)
        bytes += strlen(environ[n]) + 1;
    char **copy = dome__omp_heap_get_aligned(sizeof *copy, (n + 1) * sizeof *copy + bytes), *text = (char *)(copy + n + 1);
    if (!copy)
        return;
    for (size_t k = 0; k < n; k++) {
        copy[k] = text;
        text = stpcpy(text, environ[k]) + 1;
    }
    copy[n] = NULL;
    environ = s->environment = copy; /* what was there may still be in use: it stays */
}

int setenv(const char *name, const char *value, int replace)
{
    keep_environment();
    const int result = ((int (*)(const char *, const char *, int))dome__omp_next("setenv"))(name, value, replace);
    share_environment();
    return result;
}

int unsetenv(const char *name)
{
    keep_environment();
    const int result = ((int (*)(const char *))dome__omp_next("unsetenv"))(name);
    share_environment();
    return result;
}

int putenv(char *word)
{
    keep_environment();
    const int result = ((int (*)(char *))dome__omp_next("putenv"))(word);
    share_environment();
    return result;
}

int clearenv(void)
{
    keep_environment();
    const int result = ((int (*)(void))dome__omp_next("clearenv"))();
    share_environment();
    return result;
}

static void note_directory(void)
{
    dome_omp_state_page *s = writes();
    if (s && !getcwd(s->directory, sizeof s->directory))
        s->directory[0] = 0;
}

int chdir(const char *path)
{
    if (dome__omp_touches())
        dome__omp_touch_text(path);
    const int result = ((int (*)(const char *))dome__omp_next("chdir"))(path);
    note_directory();
    return result;
}

int fchdir(int fd)
{
    const int result = ((int (*)(int))dome__omp_next("fchdir"))(fd);
    note_directory();
    return result;
}

mode_t umask(mode_t mask)
{
    dome_omp_state_page *s = writes();
    if (s) {
        s->umask = mask;
        s->umask_set = true;
    }
    return ((mode_t(*)(mode_t))dome__omp_next("umask"))(mask);
}

char *setlocale(int category, const char *locale)
{
    typedef char *set(int, const char *);
    set *next = (set *)dome__omp_next("setlocale");
    char *result = next(category, locale);
    dome_omp_state_page *s = locale && result ? writes() : NULL;
    const char *all = s ? next(LC_ALL, NULL) : NULL;
    if (all && strlen(all) < sizeof s->locale)
        strcpy(s->locale, all);
    return result;
}

void dome__omp_state_action(int number, const struct sigaction *action)
{
    const bool is_one = dome__omp_tasks.rank == 0 && number > 0 && number < DOME_OMP_STATE_SIGNALS;
    dome_omp_state_page *s = is_one ? writes() : NULL;
    if (!s)
        return;
    dome_omp_action *a = &s->actions[number];
    *a = (dome_omp_action){.handler = action->sa_handler, .flags = (uint64_t)action->sa_flags};
    memcpy(&a->mask, &action->sa_mask, sizeof a->mask);
    s->handled |= UINT64_C(1) << number;
}

/* ---- the end ---- */

typedef struct exit_call {
    void (*function)(void *);
    void *argument;
} exit_call;

static GArray *exits;          /* exit_call: that this process has given to the C library */
static exit_call *saved_exits; /* of the process that was saved; g_free'd */
static uint64_t saved_exit_count;

typedef int exit_function(void (*function)(void *), void *argument, void *object);

static void note_exit(exit_call call)
{
    if (!exits)
        exits = g_array_new(FALSE, FALSE, sizeof(exit_call));
    g_array_append_val(exits, call);
}

/* atexit is a call of this one, and so is each static object. */
int own_cxa_atexit(void (*function)(void *), void *argument, void *object) __asm__("dome__c___cxa_atexit");
int own_cxa_atexit(void (*function)(void *), void *argument, void *object)
{
    const char *caller = __builtin_return_address(0);
    const dome_omp_part program = dome__omp_image()->code;
    if (dome__omp_tasks.rank == 0 && caller >= program.begin && caller < program.end)
        note_exit((exit_call){function, argument});
    return ((exit_function *)dome__omp_next("__cxa_atexit"))(function, argument, object);
}

void dome__omp_exits_save(GByteArray *to)
{
    const guint n = exits ? exits->len : 0;
    dome__append_u64(to, n);
    if (n > 0)
        g_byte_array_append(to, (const guint8 *)exits->data, (guint)(n * sizeof(exit_call)));
}

void dome__omp_exits_read(dome_bytes *from)
{
    const uint64_t n = dome__read_u64(from);
    const void *calls = dome__read_bytes(from, n * sizeof(exit_call));
    saved_exits = calls ? g_memdup2(calls, n * sizeof(exit_call)) : NULL;
    saved_exit_count = calls ? n : 0;
}

void dome__omp_exits_enter(void)
{
    for (uint64_t k = exits ? exits->len : 0; k < saved_exit_count; k++) {
        note_exit(saved_exits[k]);
        if (((exit_function *)dome__omp_next("__cxa_atexit"))(saved_exits[k].function, saved_exits[k].argument, NULL))
            dome__say("a function that the program has given to atexit is not called: no memory");
    }
    g_clear_pointer(&saved_exits, g_free);
}

/* ---- what the others take ---- */

static void take_directory(const char *directory)
{
    static bool said;
    char path[DOME_OMP_STATE_TEXT];
    memcpy(path, directory, sizeof path);
    if (!path[0] || chdir(path) == 0 || said)
        return;
    said = true;
    dome__say("task %d has no directory %s, in which the program is now: %s", dome__omp_tasks.rank, path, strerror(errno));
}

static void take_rest(const dome_omp_state_page *s)
{
    if (s->umask_set)
        umask((mode_t)s->umask);
    if (s->locale[0] && !setlocale(LC_ALL, s->locale))
        dome__say("task %d has no locale %s, which the program uses now", dome__omp_tasks.rank, s->locale);
}

void dome__omp_state_put_back(const char *directory, char **environment)
{
    dome_omp_state_page *s = dome__omp_state();
    if (chdir(directory))
        dome__say("the directory of the program, %s, is not there: %s", directory, strerror(errno));
    environ = s->environment = environment;
    memset(s->output, 0, sizeof s->output); /* printed before the program was saved */
    take_rest(s);
}

void dome__omp_state_take(void)
{
    const dome_omp_state_page *s = dome__omp_state();
    if (s->changes != taken) {
        taken = s->changes;
        take_directory(s->directory);
        take_rest(s);
        if (dome__omp_tasks.rank == 0 && s->environment)
            environ = s->environment;
    }
    dome__omp_arguments_enter(s->environment);
}

void dome__omp_state_leave(void)
{
    dome__omp_arguments_leave();
}
