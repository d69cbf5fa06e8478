#include "ckpt/checkpoint_private.h"
#include "system/own_signals.h"
#include "transport/agree.h"
#include "transport/collective.h"
#include "transport/transport.h"

#include <signal.h>
#include <time.h>

/* After SIGTERM a program has this long to reach a boundary. From there on its checkpoint may take as long as it makes progress:
 * progress is checked at the same interval, and the program ends after this many checks in a row without any. */
enum { END_SECONDS = 10, STILL_MOST = 6 };

/* Requests to rank 0 by signals: a checkpoint (SIGUSR1), or a checkpoint and then the end (SIGTERM). */
static volatile sig_atomic_t asked, ending, at_boundary, still;
static volatile unsigned progress;
static timer_t end_timer;
static void (*volatile notify)(void); /* for a program that reaches no boundary by itself */

static void ask(int number)
{
    (void)number;
    asked = 1;
    if (notify)
        notify();
}

/* Whether a checkpoint is being written, and makes progress. */
static bool gets_on(void)
{
    unsigned now = dome__store_progress();
    still = now == progress ? still + 1 : 0;
    progress = now;
    return still < (at_boundary ? STILL_MOST : 1);
}

/* The program may never reach another boundary, or not soon: after some time, or at a second signal, it ends without a
 * checkpoint. */
static void ask_to_end(int number, siginfo_t *info, void *context)
{
    (void)context;
    if (ending) {
        if (info->si_code == SI_TIMER && gets_on())
            return;
        signal(number, SIG_DFL);
        raise(number);
    }
    const struct itimerspec times = {.it_value = {.tv_sec = END_SECONDS}, .it_interval = {.tv_sec = END_SECONDS}};
    ending = 1;
    progress = dome__store_progress();
    timer_settime(end_timer, 0, &times, NULL);
    if (notify)
        notify();
}

void dome__checkpoint_catch_signals(void)
{
    struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGTERM};
    struct sigaction on_usr1 = {.sa_handler = ask, .sa_flags = SA_RESTART};
    struct sigaction on_term = {.sa_sigaction = ask_to_end, .sa_flags = SA_RESTART | SA_SIGINFO}, was;
    asked = ending = at_boundary = still = 0;
    dome__signal_catch(SIGUSR1, &on_usr1);
    if (sigaction(SIGTERM, NULL, &was) == 0 && was.sa_handler == SIG_DFL &&
        timer_create(CLOCK_MONOTONIC, &event, &end_timer) == 0)
        dome__signal_catch(SIGTERM, &on_term);
}

void dome__checkpoint_leave_signals(bool end)
{
    struct sigaction now; /* SIGUSR1 stays caught: a request that comes too late must not end a program that is complete */
    if (sigaction(SIGTERM, NULL, &now) == 0 && now.sa_sigaction == ask_to_end) {
        signal(SIGTERM, SIG_DFL);
        timer_delete(end_timer);
        if (end)
            raise(SIGTERM);
    }
}

void dome__checkpoint_keep_signals(void)
{
    struct sigaction now;
    if (asked && sigaction(SIGUSR1, NULL, &now) == 0 && now.sa_handler == ask)
        raise(SIGUSR1);
    if (ending && sigaction(SIGTERM, NULL, &now) == 0 && now.sa_sigaction == ask_to_end)
        raise(SIGTERM);
}

bool dome__checkpoint_asked(void)
{
    return asked;
}

void dome__checkpoint_answered(void)
{
    asked = 0;
}

bool dome__checkpoint_ending(void)
{
    if (ending)
        at_boundary = 1;
    return ending;
}

void dome__checkpoint_ask(void)
{
    asked = 1;
}

void dome__checkpoint_on_request(void (*function)(void))
{
    notify = function;
}

/* ---- lines and messages of all files checkpoint*.c ---- */

void dome__checkpoint_say(dome_env *env, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    char *text = g_strdup_vprintf(format, arguments);
    va_end(arguments);
    g_strdelimit(text, "\n", ' ');
    env->hooks->say(env, text);
    g_free(text);
}

int dome__checkpoint_share(dome_env *env, void *data, uint64_t count, dome_type type)
{
    int status = dome__bcast(env->transport, 0, type, data, count);
    return status ? dome__fail_transport(env, status) : DOME_OK;
}
