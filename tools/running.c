#include "running.h"

#include "daemon/descent.h"
#include "system/deadline.h"

#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

static void free_report(void *report)
{
    dome__report_free(report);
}

GPtrArray *dome__running(guint *silent)
{
    GPtrArray *texts = dome__report_ask_all(silent), *all = g_ptr_array_new_with_free_func(free_report);
    for (guint i = 0; i < texts->len; i++) {
        dome_report *report = dome__report_parse(texts->pdata[i]);
        if (report)
            g_ptr_array_add(all, report);
    }
    g_ptr_array_unref(texts);
    return all;
}

int dome__running_pid(const char *word)
{
    guint64 pid;
    return g_ascii_string_to_unsigned(word, 10, 1, INT_MAX, &pid, NULL) ? (int)pid : 0;
}

/* ---- what a word means ---- */

/* From the closest to the farthest. */
enum { EXACTLY, STARTED, ELSEWHERE, NEARNESSES };

static bool has_task(const dome_report *r, int pid, bool here)
{
    for (guint i = 0; i < r->tasks->len; i++) {
        const dome_report_task *t = r->tasks->pdata[i];
        if (t->pid == pid && (strcmp(t->host, g_get_host_name()) == 0) == here)
            return true;
    }
    return false;
}

static bool is_meant(const dome_report *r, const char *word, int nearness)
{
    const int pid = dome__running_pid(word);
    const bool here = strcmp(r->host, g_get_host_name()) == 0;
    if (nearness == STARTED)
        return pid && here && dome__descends(r->pid, pid);
    if (nearness == ELSEWHERE)
        return pid && ((!here && r->pid == pid) || has_task(r, pid, false));
    char *name = r->command && r->command[0] ? g_path_get_basename(r->command[0]) : NULL;
    const bool named = g_strcmp0(name, word) == 0;
    g_free(name);
    return named || (pid && ((here && r->pid == pid) || has_task(r, pid, true)));
}

GPtrArray *dome__running_meant(const GPtrArray *all, const char *word)
{
    GPtrArray *meant = g_ptr_array_new();
    for (int nearness = 0; nearness < NEARNESSES && !meant->len; nearness++)
        for (guint i = 0; i < all->len; i++)
            if (is_meant(all->pdata[i], word, nearness))
                g_ptr_array_add(meant, all->pdata[i]);
    return meant;
}

/* Seconds in which a process may become a Dome program; in which a hub that is busy may answer. */
static const double STARTING = 2, ANSWERING = 15;

GPtrArray *dome__running_find(const char *word, GPtrArray **all)
{
    const dome_deadline started = dome__deadline_in(STARTING), answered = dome__deadline_in(ANSWERING);
    const int pid = dome__running_pid(word);
    for (;;) {
        guint silent = 0;
        *all = dome__running(&silent);
        GPtrArray *meant = dome__running_meant(*all, word);
        const bool may_start = pid && kill(pid, 0) == 0 && !dome__deadline_passed(started),
                   may_answer = silent > 0 && !dome__deadline_passed(answered);
        if (meant->len || !(may_start || may_answer))
            return meant;
        g_ptr_array_unref(meant);
        g_ptr_array_unref(*all);
        g_usleep(50000);
    }
}
