#include "machine/hosts_script.h"

#include "manage/hosts_policy.h"
#include "system/child.h"
#include "system/time.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

dome_hosts_script dome__hosts_script_new(const char *command)
{
    return (dome_hosts_script){.command = command, .fd = -1, .output = g_string_new(NULL)};
}

/* ends: so do those that it has started. A script that has come to its end may leave some behind. */
static void stop(dome_hosts_script *s, bool ends)
{
    if (s->fd < 0)
        return;
    if (ends)
        kill(-s->process, SIGKILL);
    close(s->fd);
    s->fd = -1;
}

void dome__hosts_script_clear(dome_hosts_script *s)
{
    stop(s, true);
    g_string_free(s->output, TRUE);
}

/* The script must not outlive this process, nor keep its files open. */
static const dome_child_setup SETUP = {
    .line = DOME_CHILD_TELLS,
    .line_as = STDOUT_FILENO,
    .null = DOME_CHILD_IN,
    .close_from = STDERR_FILENO + 1,
    .unblocked = true,
    .group = true,
    .with_parent = true,
};

/* In the child. */
static void run(const char *command) __attribute__((noreturn));

static void run(const char *command)
{
    signal(SIGPIPE, SIG_DFL); /* the hub ignores both */
    signal(SIGXFSZ, SIG_DFL);
    execl("/bin/sh", "sh", "-c", command, (char *)NULL);
    _exit(127);
}

bool dome__hosts_script_begin(dome_hosts_script *s, double now)
{
    char *command = g_strdup_printf(DOME_SCRIPT_COMMAND, s->command);
    s->process = dome__child_fork(&SETUP, &s->fd);
    if (s->process == 0)
        run(command);
    const int error = errno;
    g_free(command);
    s->began = now;
    g_string_truncate(s->output, 0);
    errno = error;
    return s->process > 0;
}

/* Why the run must end; NULL: it may go on. */
static char *objection(const dome_hosts_script *s, double now)
{
    if (s->output->len > DOME_SCRIPT_OUTPUT_MOST)
        return g_strdup_printf("'%s' prints more than %d KiB", s->command, DOME_SCRIPT_OUTPUT_MOST >> 10);
    if (now - s->began > DOME_SCRIPT_LONGEST)
        return g_strdup_printf("'%s' does not end within %d s", s->command, DOME_SCRIPT_LONGEST);
    return NULL;
}

/* The script has closed its output. */
static GArray *offers_of(const dome_hosts_script *s, char **why)
{
    char *wrong = NULL;
    GArray *offers = dome__script_succeeded(s->output->str) ? dome__offers_parse(s->output->str, &wrong) : NULL;
    if (!offers)
        *why = g_strdup_printf("'%s' %s", s->command, wrong ? wrong : "has failed");
    g_free(wrong);
    return offers;
}

bool dome__hosts_script_hear(dome_hosts_script *s, bool readable, double now, GArray **offers, char **why)
{
    char buffer[4096];
    const ssize_t n = readable ? read(s->fd, buffer, sizeof buffer) : -1;
    *offers = NULL;
    if (n > 0)
        g_string_append_len(s->output, buffer, n);
    *why = n == 0 ? NULL : objection(s, now);
    if (n != 0 && !*why)
        return false;
    if (n == 0)
        *offers = offers_of(s, why);
    stop(s, !*offers); /* without its output it may go on */
    return true;
}

/* ---- once ---- */

static GArray *run_once(const char *command, char **message)
{
    dome_hosts_script s = dome__hosts_script_new(command);
    GArray *offers = NULL;
    bool over = !dome__hosts_script_begin(&s, dome__now());
    if (over)
        *message = g_strdup_printf("'%s' cannot be started: %s", command, g_strerror(errno));
    while (!over) {
        struct pollfd p = {.fd = s.fd, .events = POLLIN};
        const bool readable = poll(&p, 1, 100) > 0;
        over = dome__hosts_script_hear(&s, readable, dome__now(), &offers, message);
    }
    dome__hosts_script_clear(&s);
    dome__child_reap(s.process);
    return offers;
}

char **dome__hosts_script_ask(const char *command, char **slots, char **message)
{
    GArray *offers = run_once(command, message);
    if (!offers)
        return NULL;
    char **hosts = g_new0(char *, offers->len + 1);
    GString *list = g_string_new(NULL);
    for (guint i = 0; i < offers->len; i++) {
        const dome_offer *o = &g_array_index(offers, dome_offer, i);
        hosts[i] = g_strdup(o->host);
        g_string_append_printf(list, "%s%s=%d", i ? " " : "", o->host, o->slots);
    }
    *slots = g_string_free(list, FALSE);
    g_array_unref(offers);
    return hosts;
}
