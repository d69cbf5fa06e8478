#include "hub/hub_private.h"

#include "system/child.h"

#include <signal.h>
#include <unistd.h>

/* Seconds after which a task that has given this process up has ended, its machine's daemon being the last to go. */
static const double GIVING_UP = 3;

double dome__hub_silence_limit(const hub_state *s)
{
    double period = CLAMP(s->hub->timeout / 10, 0.02, 1.0);
    return MAX(s->hub->timeout - period - 0.5, s->hub->timeout / 2);
}

bool dome__hub_silent(const hub_state *s, const hub_client *c)
{
    return s->now - c->heard > dome__hub_silence_limit(s) / 2;
}

void dome__hub_machine_open(hub_state *s)
{
    s->now = dome__hub_now();
    s->machine->awake = dome__awake_from(s->now);
    s->machine->down = dome__hub_down_new();
}

void dome__hub_pass_time(hub_state *s, double period)
{
    hub_machine *m = s->machine;
    const double before = m->awake.real;
    s->now = dome__awake_read(&m->awake, dome__hub_now(), period);
    if (m->awake.real - before > dome__hub_silence_limit(s))
        m->overslept_until = s->now + GIVING_UP;
}

void dome__hub_skip_time(hub_state *s)
{
    dome__awake_read(&s->machine->awake, dome__hub_now(), 0);
}

void dome__hub_machine_reaped(hub_state *s, pid_t pid)
{
    hub_machine *m = s->machine;
    if (pid == s->hub->machine.daemon)
        m->daemon_ended = true;
    else if (pid == m->killer)
        m->killer = 0;
}

void dome__hub_launcher_kill(hub_state *s, const int *tids, int n)
{
    const dome_launcher *launcher = s->hub->machine.launcher;
    hub_machine *m = s->machine;
    if (n == 0 || !(launcher->can & DOME_LAUNCHER_KILL) || m->daemon_ended)
        return;
    if (m->killer)
        kill(m->killer, SIGKILL);
    const pid_t killer = dome__child_fork(&(dome_child_setup){.seconds = 2}, NULL);
    if (killer == 0) {
        launcher->kill(tids, n);
        _exit(0);
    }
    m->killer = killer > 0 ? killer : 0; /* -1 would be all processes of the user, at the next kill */
}
