/* What the module has beside the library's functions: the end of a program of several tasks, which comes after that of the
 * interpreter, because only then the exit status is known. */
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* These functions only record what is to be computed, so they keep the interpreter's lock: to release it and take it again, as
 * cffi does for each function, would take a tenth of their time. The compiler drops the comparisons of names. */
#define RECORDS(name) || strcmp(__func__, "_cffi_f_dvec_" name) == 0
#define ONLY_RECORDS                                                                                                             \
    (0 RECORDS("add") RECORDS("sub") RECORDS("mul") RECORDS("div") RECORDS("adds") RECORDS("subs") RECORDS("muls")               \
         RECORDS("divs") RECORDS("rsubs") RECORDS("rdivs") RECORDS("axpy") RECORDS("copy") RECORDS("fill"))
#undef Py_BEGIN_ALLOW_THREADS
#undef Py_END_ALLOW_THREADS
#define Py_BEGIN_ALLOW_THREADS                                                                                                   \
    {                                                                                                                            \
        PyThreadState *_save = ONLY_RECORDS ? NULL : PyEval_SaveThread();
#define Py_END_ALLOW_THREADS                                                                                                     \
    if (!(ONLY_RECORDS))                                                                                                         \
        PyEval_RestoreThread(_save);                                                                                             \
    }

static dome_env *ends;
static pid_t ends_in;

#define EXITS INT_MAX /* the tag of messages of tasks that exit with a status other than 0 */

/* Whether all tasks exit with a status other than 0: each tells the others, and waits for them for half a second. */
static bool all_exit(dome_env *env)
{
    const int size = dome_size(env);
    unsigned char mine = 1, *theirs = calloc((size_t)size, 1);
    dome_request **waits = calloc((size_t)size, sizeof *waits);
    bool all = theirs && waits;
    for (int r = 0; all && r < size; r++) {
        dome_request *tells = r == dome_rank(env) ? NULL : dome_isend(env, r, EXITS, DOME_U8, &mine, 1);
        waits[r] = tells ? dome_irecv(env, r, EXITS, DOME_U8, &theirs[r], 1) : NULL;
        all = r == dome_rank(env) || (waits[r] && dome_wait(tells, NULL) == DOME_OK);
    }
    const struct timespec pause = {.tv_nsec = 5000000};
    for (int r = 0, turns = 100; all && r < size; r++) {
        while (waits[r] && !dome_test(waits[r]) && turns-- > 0)
            nanosleep(&pause, NULL);
        all = !waits[r] || turns > 0;
        if (all && waits[r])
            dome_wait(waits[r], NULL);
    }
    free(waits);
    return all; /* theirs stays: a request that has not ended may still write there */
}

/* A task that exits with another status while others go on does not finalize: the library then ends all with its status. */
static void at_exit(int status, void *unused)
{
    (void)unused;
    dome_env *env = ends;
    ends = NULL;
    if (!env || getpid() != ends_in || (status && !all_exit(env)))
        return;
    const int failed = dome_finalize(env);
    if (failed)
        _exit(failed);
}

/* Lets the program end so; NULL: it has ended in another way. */
static void finalize_at_exit(dome_env *env)
{
    static bool registered;
    if (env && !registered)
        registered = on_exit(at_exit, NULL) == 0;
    ends = registered ? env : NULL;
    ends_in = getpid();
}
