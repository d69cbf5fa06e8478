/* Starts the daemons of many hosts at once. PVM's own daemon starts five at a time, so each five hosts take as long as the
 * slowest of them; it leaves the starting to a task that has registered for that (man pvm_reg_hoster), which this is: a process
 * of its own, as the one that adds the hosts waits for PVM meanwhile. */
#include "pvm/pvm.h"

#include "system/child.h"
#include "system/deadline.h"
#include "system/io.h"

#include <fcntl.h>
#include <glib.h>
#include <poll.h>
#include <pvm3.h>
#include <pvmproto.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* Seconds for all daemons to say that they run; the command ends before (dome__pvm_write_rsh). */
static const double PATIENCE = 22;

/* A daemon that is being started. */
typedef struct start {
    int tid, out, err; /* -1: at its end */
    char *host;
    GString *said, *wrong;
} start;

static int run(const char *login, const char *command, int *out, int *err)
{
    const dome_child_setup setup = {.line = DOME_CHILD_TELLS, .line_as = STDOUT_FILENO, .null = DOME_CHILD_IN};
    int e[2];
    if (pipe2(e, O_CLOEXEC) < 0)
        return -1;
    const pid_t pid = dome__child_fork(&setup, out);
    if (pid == 0) {
        const char *at = strchr(login, '@');
        char *user = at ? g_strndup(login, (gsize)(at - login)) : NULL;
        const char *rsh = g_getenv("PVM_RSH"), *host = at ? at + 1 : login;
        signal(SIGPIPE, SIG_DFL); /* the hoster ignores it */
        dup2(e[1], STDERR_FILENO);
        close_range(STDERR_FILENO + 1, ~0U, 0); /* who adds the hosts waits until all have closed what it says */
        if (user)
            execlp(rsh, rsh, host, "-l", user, command, (char *)NULL);
        else
            execlp(rsh, rsh, host, command, (char *)NULL);
        _exit(127);
    }
    close(e[1]);
    *err = e[0];
    return pid;
}

/* Reads what has come; at the end closes. */
static void hear(int *fd, GString *text)
{
    char buffer[1024];
    const ssize_t n = read(*fd, buffer, sizeof buffer);
    if (n > 0)
        g_string_append_len(text, buffer, n);
    if (n > 0)
        return;
    close(*fd);
    *fd = -1;
}

/* Whether its daemon runs or will not. */
static bool is_over(const start *s)
{
    return s->out < 0 || strchr(s->said->str, '\n');
}

static void await(GArray *starts)
{
    const dome_deadline until = dome__deadline_in(PATIENCE);
    for (bool all = false; !all && !dome__deadline_passed(until);) {
        struct pollfd *p = g_new0(struct pollfd, 2 * starts->len);
        all = true;
        for (guint i = 0; i < starts->len; i++) {
            const start *s = &g_array_index(starts, start, i);
            p[2 * i] = (struct pollfd){.fd = s->out, .events = POLLIN};
            p[2 * i + 1] = (struct pollfd){.fd = s->err, .events = POLLIN};
            all &= is_over(s);
        }
        if (!all && poll(p, 2 * starts->len, 200) > 0)
            for (guint i = 0; i < starts->len; i++) {
                start *s = &g_array_index(starts, start, i);
                if (p[2 * i].revents)
                    hear(&s->out, s->said);
                if (p[2 * i + 1].revents)
                    hear(&s->err, s->wrong);
            }
        g_free(p);
    }
}

/* Writes to the place where said_by_rsh looks, as if PVM had written it. */
static void write_down(const start *s)
{
    char *log = dome__pvm_daemon_log(), **lines = g_strsplit(s->wrong->str, "\n", 0);
    FILE *file = fopen(log, "ae");
    for (char **line = lines; file && *line; line++)
        if (**line)
            fprintf(file, "[dome] stderr@%s: %s\n", s->host, *line);
    if (file)
        fclose(file);
    g_strfreev(lines);
    g_free(log);
}

static void clear_start(void *item)
{
    start *s = item;
    if (s->out >= 0)
        close(s->out);
    if (s->err >= 0)
        close(s->err);
    g_free(s->host);
    g_string_free(s->said, TRUE);
    g_string_free(s->wrong, TRUE);
}

/* Answers a request that has been received. */
static void serve(int buffer)
{
    GArray *starts = g_array_new(FALSE, TRUE, sizeof(start));
    int bytes = 0, tag, from, count = 0;
    struct pvmminfo request = {0}, answer = {0}; /* PVM knows the answer by the number that both have, wid */
    pvm_getminfo(buffer, &request);
    g_array_set_clear_func(starts, clear_start);
    pvm_bufinfo(buffer, &bytes, &tag, &from);
    /* The manual does not name the last two: a command for WIN32, and PVM_VMID. */
    enum { OPTIONS, LOGIN, COMMAND, OTHER, MACHINE, TEXTS };
    char *text[TEXTS];
    for (int k = 0; k < TEXTS; k++)
        text[k] = g_malloc0((gsize)bytes + 1);
    pvm_upkint(&count, 1, 1);
    for (int i = 0; i < count; i++) {
        start s = {.out = -1, .err = -1, .said = g_string_new(NULL), .wrong = g_string_new(NULL)};
        bool known = pvm_upkint(&s.tid, 1, 1) >= 0;
        for (int k = 0; k < TEXTS; k++)
            known = known && pvm_upkstr(text[k]) >= 0;
        s.host = g_strdup(strchr(text[LOGIN], '@') ? strchr(text[LOGIN], '@') + 1 : text[LOGIN]);
        char *command = g_strdup_printf("PVM_VMID=%s; export PVM_VMID; %s", text[MACHINE], text[COMMAND]);
        if (known)
            run(text[LOGIN], command, &s.out, &s.err);
        g_free(command);
        g_array_append_val(starts, s);
    }
    await(starts);
    pvm_initsend(PvmDataDefault);
    count = (int)starts->len;
    pvm_pkint(&count, 1, 1); /* which the manual does not say */
    for (guint i = 0; i < starts->len; i++) {
        start *s = &g_array_index(starts, start, i);
        char *end = strchr(s->said->str, '\n'), failed[] = "PvmCantStart";
        if (end)
            *end = '\0';
        else
            write_down(s);
        pvm_pkint(&s->tid, 1, 1);
        pvm_pkstr(end ? s->said->str : failed);
    }
    pvm_getminfo(pvm_getsbuf(), &answer);
    answer.wid = request.wid;
    pvm_setminfo(pvm_getsbuf(), &answer);
    pvm_send(from, SM_STHOSTACK);
    g_array_unref(starts);
    for (int k = 0; k < TEXTS; k++)
        g_free(text[k]);
}

/* In the process: says by `ready` that it has registered. */
static void be_hoster(int ready) __attribute__((noreturn));

static void be_hoster(int ready)
{
    signal(SIGPIPE, SIG_IGN);
    pvm_setopt(PvmAutoErr, 0);
    if (pvm_mytid() < 0 || pvm_setopt(PvmResvTids, 1) < 0 || pvm_reg_hoster() < 0)
        _exit(1);
    if (write(ready, "", 1) != 1)
        _exit(1);
    for (int buffer; (buffer = pvm_recv(-1, SM_STHOST)) > 0;)
        serve(buffer);
    _exit(1);
}

pid_t dome__pvm_hoster_start(void)
{
    int line;
    char byte;
    if (!g_getenv("PVM_RSH"))
        return 0;
    const pid_t pid = dome__child_fork(&(dome_child_setup){.line = DOME_CHILD_TELLS, .with_parent = true}, &line);
    if (pid < 0)
        return 0;
    if (pid == 0)
        be_hoster(line);
    const bool stands = dome__io_read_some(line, &byte, 1) == 1; /* the other end closes if it ends */
    close(line);
    if (!stands)
        dome__pvm_hoster_end(pid);
    return stands ? pid : 0;
}

void dome__pvm_hoster_end(pid_t hoster)
{
    dome__child_kill(hoster);
}
