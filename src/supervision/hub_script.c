/* Runs the user's script of hosts (dome run --hosts-script) now and then, and gives the orders that follow from what it prints
 * (hosts_policy.h). */
#include "supervision/hosts_policy.h"
#include "supervision/hub_private.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

/* Seconds from one run to the next; bytes of output that are read. */
static const double PERIOD = 2;
enum { OUTPUT_MOST = 1 << 20 };

struct hub_script {
    const char *command;
    dome_hosts_policy *policy;
    dome_order order; /* under way; hosts NULL: none */
    pid_t process;
    int fd; /* of its output; -1: it does not run */
    GString *output;
    double began, next;
    char *said; /* the last line about it */
};

void dome__hub_script_open(hub_state *s)
{
    if (!s->hub->script)
        return;
    s->script = g_new0(hub_script, 1);
    s->script->command = s->hub->script;
    s->script->policy = dome__hosts_policy_new();
    s->script->output = g_string_new(NULL);
    s->script->fd = -1;
    s->script->next = s->now + PERIOD;
}

static void say(hub_state *s, const char *text)
{
    dome__hub_say_once(s, &s->script->said, dome__hub_option(s, DOME_HUB_SCRIPT), text);
}

static void begin(hub_state *s)
{
    hub_script *x = s->script;
    int out[2];
    x->next = s->now + PERIOD;
    if (pipe2(out, O_CLOEXEC) < 0)
        return;
    char *command = g_strdup_printf(DOME_SCRIPT_COMMAND, x->command);
    x->process = fork();
    if (x->process == 0) {
        sigset_t none;
        sigemptyset(&none);
        sigprocmask(SIG_SETMASK, &none, NULL);
        signal(SIGPIPE, SIG_DFL); /* this process ignores both */
        signal(SIGXFSZ, SIG_DFL);
        setpgid(0, 0);
        int null = open("/dev/null", O_RDWR);
        dup2(null, STDIN_FILENO);
        dup2(out[1], STDOUT_FILENO);
        execl("/bin/sh", "sh", "-c", command, (char *)NULL);
        _exit(127);
    }
    g_free(command);
    close(out[1]);
    x->fd = x->process > 0 ? out[0] : -1;
    if (x->fd < 0)
        close(out[0]);
    x->began = s->now;
    g_string_truncate(x->output, 0);
}

static void stop(hub_script *x)
{
    if (x->fd >= 0)
        kill(-x->process, SIGKILL); /* it has not closed its output */
    if (x->fd >= 0)
        close(x->fd);
    x->fd = -1;
}

/* The script has ended. */
static void take(hub_state *s)
{
    hub_script *x = s->script;
    char *why = NULL;
    GArray *offers = dome__script_succeeded(x->output->str) ? dome__offers_parse(x->output->str, &why) : NULL;
    close(x->fd);
    x->fd = -1;
    if (offers) {
        dome__hosts_policy_offer(x->policy, offers, s->now);
        g_array_unref(offers);
    } else {
        char *text = g_strdup_printf("'%s' %s; the program keeps its hosts", x->command, why ? why : "has failed");
        say(s, text);
        g_free(text);
    }
    g_free(why);
}

static void hear(hub_state *s)
{
    hub_script *x = s->script;
    char buffer[4096];
    ssize_t n = read(x->fd, buffer, sizeof buffer);
    if (n > 0 && x->output->len < OUTPUT_MOST)
        g_string_append_len(x->output, buffer, n);
    else if (n == 0)
        take(s);
}

static void order(hub_state *s)
{
    hub_script *x = s->script;
    if (x->order.hosts || !dome__view_is_free(&s->view) || s->asker != -1 || s->adding.fd >= 0 || s->rank0_ended || s->noticed)
        return;
    const char **hosts = dome__hub_hosts(s);
    dome_order order;
    if (dome__hosts_policy_order(x->policy, s->now, s->view.size, hosts, s->view.least, s->view.most, &order)) {
        x->order = order;
        x->order.hosts = g_strdupv(order.hosts);
        dome__hub_add_hosts(s, &order, DOME_HUB_SCRIPT);
    }
    g_free(hosts);
}

int dome__hub_script_fd(const hub_state *s)
{
    return s->script ? s->script->fd : -1;
}

void dome__hub_script_tick(hub_state *s)
{
    hub_script *x = s->script;
    if (!x || s->view.size == 0)
        return;
    if (x->fd >= 0 && dome__hub_happened(s, DOME_POLL_SCRIPT))
        hear(s);
    else if (x->fd >= 0 && s->now - x->began > DOME_SCRIPT_LONGEST) {
        stop(x);
        say(s, "the script does not end; the program keeps its hosts");
    } else if (x->fd < 0 && s->now > x->next && !s->rank0_ended)
        begin(s);
    order(s);
}

void dome__hub_script_answer(hub_state *s, const char *word, const char *text)
{
    hub_script *x = s->script;
    const bool good = strcmp(word, "done") == 0;
    if (!x || !x->order.hosts)
        return;
    dome__hosts_policy_ended(x->policy, &x->order, good, s->now);
    dome__order_clear(&x->order);
    if (!good && !s->rank0_ended && !s->noticed)
        say(s, text);
}

void dome__hub_script_close(hub_state *s)
{
    hub_script *x = s->script;
    if (!x)
        return;
    stop(x);
    dome__order_clear(&x->order);
    dome__hosts_policy_free(x->policy);
    g_string_free(x->output, TRUE);
    g_free(x->said);
    g_clear_pointer(&s->script, g_free);
}
