#include "daemon/ask_hub.h"

#include "daemon/descent.h"
#include "daemon/user_rights.h"
#include "system/child.h"
#include "system/io.h"
#include "transport/control_socket.h"
#include "wire/order.h"
#include "wire/report.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

/* 0: there is none. */
static int find_hub(pid_t run)
{
    GArray *hubs = dome__control_socket_list(DOME_CONTROL_ORDER);
    int found = 0;
    for (guint i = 0; i < hubs->len && !found; i++) {
        const int pid = g_array_index(hubs, int, i);
        if (pid == run || dome__descends(pid, run))
            found = pid;
    }
    g_array_unref(hubs);
    return found;
}

static char *give(int hub, const char *order, int seconds)
{
    char *line = g_strconcat(order, "\n", NULL), *answer = dome__order_send(hub, line, seconds);
    g_free(line);
    if (answer && answer[0])
        return answer;
    g_free(answer);
    return g_strdup(answer ? "late" : "none");
}

static char *answer_of(const dome_report *report)
{
    dome_record is = dome__record_new("is");
    dome_places on = dome__places_new();
    for (guint i = 0; i < report->tasks->len; i++) {
        const char *host = ((const dome_report_task *)report->tasks->pdata[i])->host;
        dome__places_set(&on, host, dome__places_get(&on, host) + 1);
    }
    dome__record_add_number(&is, "tasks", report->tasks->len);
    dome__record_add_number(&is, "checkpoint", report->checkpoint);
    dome__record_add_number(&is, "suspended", report->suspended);
    dome__places_add_to(&on, &is, "on");
    char *line = dome__record_line(&is);
    dome__places_clear(&on);
    dome__record_clear(&is);
    return line;
}

static char *ask(int hub)
{
    GPtrArray *texts = dome__report_ask_all(NULL);
    char *answer = NULL;
    for (guint i = 0; i < texts->len && !answer; i++) {
        dome_report *report = dome__report_parse(texts->pdata[i]);
        if (report && report->pid == hub)
            answer = answer_of(report);
        if (report)
            dome__report_free(report);
    }
    g_ptr_array_unref(texts);
    return answer ? answer : g_strdup("none");
}

pid_t dome__ask_hub(const dome_program *program, pid_t run, const char *order, int seconds, int *fd)
{
    /* It keeps nothing of the daemon's open: its lock would outlast a daemon that is killed. */
    const dome_child_setup setup = {.line = DOME_CHILD_TELLS,
                                    .line_as = STDERR_FILENO + 1,
                                    .close_from = STDERR_FILENO + 2,
                                    .with_parent = true,
                                    .unblocked = true,
                                    .handles_none = true,
                                    .seconds = (unsigned)seconds + 10};
    const pid_t child = dome__child_fork(&setup, fd);
    if (child != 0)
        return child;
    const char *why = dome__owner_become(program->uid, program->gid, program->owner);
    const int hub = why ? 0 : find_hub(run);
    char *answer = !hub ? g_strdup("none") : order ? give(hub, order, seconds) : ask(hub);
    dome__io_write(*fd, answer, strlen(answer));
    _exit(0);
}
