#include "in_time.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
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
        size_t done = 0;
        ssize_t n;
        while (done < out->len && (n = write(ends[1], out->str + done, out->len - done)) > 0)
            done += (size_t)n;
        _exit(0);
    }
    close(ends[1]);
    GString *text = g_string_new(NULL);
    gint64 until = g_get_monotonic_time() + seconds * G_USEC_PER_SEC;
    ssize_t n = pid > 0 ? 1 : 0;
    while (n > 0) {
        char buffer[4096];
        gint64 left = until - g_get_monotonic_time();
        struct pollfd p = {.fd = ends[0], .events = POLLIN};
        int ready = left > 0 ? poll(&p, 1, (int)(left / 1000) + 1) : 0;
        if (ready == 0) {
            kill(pid, SIGKILL);
            g_string_printf(text, "%cthe PVM daemon did not do it within %d s; see dome doctor", failed, seconds);
            break;
        }
        n = ready > 0 ? read(ends[0], buffer, sizeof buffer) : 1;
        g_string_append_len(text, buffer, ready > 0 && n > 0 ? n : 0);
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
