/* What the hub does with processes of other hosts, through the program's launcher. */
#include "hub/hub_private.h"

#include "system/child.h"

#include <signal.h>
#include <unistd.h>

void dome__hub_launcher_kill(hub_state *s, const int *tids, int n)
{
    if (n == 0 || !(s->hub->launcher->can & DOME_LAUNCHER_KILL) || s->daemon_ended)
        return;
    if (s->killer)
        kill(s->killer, SIGKILL);
    const pid_t killer = dome__child_fork(&(dome_child_setup){.seconds = 2}, NULL);
    if (killer == 0) {
        s->hub->launcher->kill(tids, n);
        _exit(0);
    }
    s->killer = killer > 0 ? killer : 0; /* -1 would be all processes of the user, at the next kill */
}
