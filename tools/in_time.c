#include "in_time.h"

#include "system/deadline.h"
#include "system/io.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

/* First character of an error message in the output. */
static const char failed = '!';

/* A daemon that the work may start must not keep our output open. */
char *dome__in_time(dome_work work, const void *request, int seconds, char **message)
{
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) < 0) {
        *message = g_strdup(g_strerror(errno));
        return NULL;
    }
    fflush(NULL);
    pid_t pid = fork();
    if (pid == 0) {
        GString *out = g_string_new(NULL);
        int null = open("/dev/null", O_RDWR);
        for (int fd = 0; fd < 3; fd++)
            dup2(null, fd);
        bool good = work(request, out, message);
        if (!good)
            g_string_printf(out, "%c%s", failed, *message ? *message : "it failed");
        dome__io_write(ends[1], out->str, out->len);
        _exit(0);
    }
    close(ends[1]);
    GString *text = g_string_new(NULL);
    const dome_deadline until = dome__deadline_in(seconds);
    char buffer[4096];
    ssize_t n = 0;
    while (pid > 0 && (n = dome__deadline_read(ends[0], buffer, sizeof buffer, until)) > 0)
        g_string_append_len(text, buffer, n);
    if (n < 0 && errno == ETIMEDOUT) {
        kill(pid, SIGKILL);
        g_string_printf(text, "%cthe PVM daemon did not do it within %d s; see dome doctor", failed, seconds);
    }
    close(ends[0]);
    while (pid > 0 && waitpid(pid, NULL, 0) < 0 && errno == EINTR)
        continue;
    if (text->str[0] == failed) {
        *message = g_strdup(text->str + 1);
        g_string_free(text, TRUE);
        return NULL;
    }
    return g_string_free(text, FALSE);
}
