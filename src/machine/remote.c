#include "machine/remote.h"

#include "system/child.h"
#include "system/deadline.h"

#include <errno.h>
#include <glib.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

/* Seconds within which a host must answer to count as up. */
enum { PROBE = 4 };

static pid_t run_on(const char *line, const char *what)
{
    static const char command[] = "exec ${DOME_RSH:-${PVM_RSH:-ssh -o BatchMode=yes -o ConnectTimeout=3}} \"$@\"";
    char **words = g_strsplit_set(line, " \t", 0);
    const char *user = NULL;
    for (char **word = words; *word; word++)
        user = g_str_has_prefix(*word, "lo=") ? *word + 3 : user;
    /* A group, so that the command's children can be killed, too. */
    const dome_child_setup setup = {.null = DOME_CHILD_STANDARD, .unblocked = true, .group = true};
    pid_t pid = dome__child_fork(&setup, NULL);
    if (pid == 0) {
        if (user)
            execl("/bin/sh", "sh", "-c", command, "sh", "-l", user, words[0], what, (char *)NULL);
        else
            execl("/bin/sh", "sh", "-c", command, "sh", words[0], what, (char *)NULL);
        _exit(127);
    }
    g_strfreev(words);
    return pid;
}

void dome__hosts_run(char **lines, const char *command, bool *answers)
{
    const guint n = g_strv_length(lines);
    const char **commands = g_new(const char *, n + 1);
    for (guint i = 0; i < n; i++)
        commands[i] = command;
    dome__hosts_run_each(lines, commands, PROBE, answers);
    g_free(commands);
}

void dome__hosts_run_each(char **lines, const char *const *commands, double seconds, bool *answers)
{
    guint n = g_strv_length(lines), left = 0;
    pid_t *pids = g_new0(pid_t, n + 1);
    for (guint i = 0; i < n; i++) {
        pids[i] = run_on(lines[i], commands[i]);
        left += pids[i] > 0;
    }
    for (const dome_deadline until = dome__deadline_in(seconds); left > 0;) {
        bool late = dome__deadline_passed(until);
        for (guint i = 0; i < n; i++) {
            int status;
            if (pids[i] <= 0)
                continue;
            if (late)
                kill(-pids[i], SIGKILL);
            pid_t ended = waitpid(pids[i], &status, late ? 0 : WNOHANG);
            if (ended == 0 || (ended < 0 && errno == EINTR))
                continue;
            answers[i] = ended > 0 && WIFEXITED(status) && WEXITSTATUS(status) == 0;
            pids[i] = 0;
            left--;
        }
        g_usleep(left > 0 ? 5000 : 0);
    }
    g_free(pids);
}
