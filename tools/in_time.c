#include "in_time.h"

#include "system/child.h"
#include "system/deadline.h"
#include "system/io.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

/* First character of an error message in the output. */
static const char failed = '!';

/* A daemon that the work may start must not keep our output open. */
char *dome__in_time(dome_work work, const void *request, int seconds, char **message)
{
    int line;
    fflush(NULL);
    pid_t pid = dome__child_fork(&(dome_child_setup){.line = DOME_CHILD_TELLS, .null = DOME_CHILD_STANDARD}, &line);
    if (pid < 0) {
        *message = g_strdup(g_strerror(errno));
        return NULL;
    }
    if (pid == 0) {
        GString *out = g_string_new(NULL);
        bool good = work(request, out, message);
        if (!good)
            g_string_printf(out, "%c%s", failed, *message ? *message : "it failed");
        dome__io_write(line, out->str, out->len);
        _exit(0);
    }
    GString *text = g_string_new(NULL);
    const dome_deadline until = dome__deadline_in(seconds);
    char buffer[4096];
    ssize_t n;
    while ((n = dome__deadline_read(line, buffer, sizeof buffer, until)) > 0)
        g_string_append_len(text, buffer, n);
    if (n < 0 && errno == ETIMEDOUT) {
        kill(pid, SIGKILL);
        g_string_printf(text, "%cthe PVM daemon did not do it within %d s; see dome doctor", failed, seconds);
    }
    close(line);
    dome__child_reap(pid);
    if (text->str[0] == failed) {
        *message = g_strdup(text->str + 1);
        g_string_free(text, TRUE);
        return NULL;
    }
    return g_string_free(text, FALSE);
}
