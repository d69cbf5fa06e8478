#include "machine/slurm.h"

#include "machine/hosts_script.h"
#include "system/environment_variables.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

bool dome__slurm_there(void)
{
    return g_getenv(DOME_SLURM_JOB) && g_getenv(DOME_SLURM_NODES);
}

char *dome__slurm_objection(void)
{
    const char *tasks = g_getenv("SLURM_STEP_NUM_TASKS");
    if (!g_getenv(DOME_SLURM_HERE))
        return g_strdup_printf("this host is not in the allocation of Slurm's job %s: begin with srun --overlap -N1 -n1 (or name "
                               "hosts by --hosts)",
                               g_getenv(DOME_SLURM_JOB));
    if (g_getenv("SLURM_STEP_ID") && tasks && atoi(tasks) > 1)
        return g_strdup_printf(
            "srun has started this command %s times, and each would begin the program: use srun -n 1, or call it "
            "from the batch script",
            tasks);
    return NULL;
}

GArray *dome__slurm_counts(const char *text)
{
    enum { MOST = 1 << 20 };
    GArray *counts = g_array_new(FALSE, FALSE, sizeof(int));
    const char *at = text;
    for (bool more = true; more;) {
        char *end;
        const guint64 count = g_ascii_strtoull(at, &end, 10);
        guint64 times = 1;
        bool good = end > at && count > 0 && count <= MOST;
        if (good && g_str_has_prefix(end, "(x")) {
            at = end + strlen("(x");
            times = g_ascii_strtoull(at, &end, 10);
            good = end > at && *end++ == ')' && times > 0;
        }
        if (!good || times + counts->len > MOST || (*end && *end != ',')) {
            g_array_unref(counts);
            return NULL;
        }
        for (const int value = (int)count; times > 0; times--)
            g_array_append_val(counts, value);
        more = *end == ',';
        at = end + 1;
    }
    return counts;
}

/* What the shell command prints: names of hosts. */
static char **names(const char *command, char **message)
{
    char *slots = NULL, **hosts = dome__hosts_script_ask(command, &slots, message);
    g_free(slots);
    return hosts;
}

/* Tasks of the job's hosts; in a step, which has a count of its own, their processors. NULL: they are not known. */
static GArray *counts_of_all(guint hosts)
{
    static const char *const variables[] = {DOME_SLURM_TASKS, DOME_SLURM_PROCESSORS};
    for (size_t i = 0; i < G_N_ELEMENTS(variables); i++) {
        const char *text = g_getenv(variables[i]);
        GArray *counts = text ? dome__slurm_counts(text) : NULL;
        if (counts && counts->len == hosts)
            return counts;
        if (counts)
            g_array_unref(counts);
    }
    return NULL;
}

static int tasks_of(const char *host, char *const *began, const GArray *counts)
{
    for (guint i = 0; began[i] && counts; i++)
        if (strcmp(began[i], host) == 0)
            return g_array_index(counts, int, i);
    return 1;
}

char **dome__slurm_hosts(bool now, char **slots, char **message)
{
    char **began = names("scontrol show hostnames \"$" DOME_SLURM_NODES "\"", message),
         **hosts = now ? names("list=$(squeue -h -j \"$" DOME_SLURM_JOB "\" -o %N) && scontrol show hostnames \"$list\"", message)
                       : g_strdupv(began);
    if (!began || !hosts) {
        g_strfreev(began);
        g_strfreev(hosts);
        return NULL;
    }
    GArray *counts = counts_of_all(g_strv_length(began));
    GString *list = g_string_new(NULL);
    for (char **host = hosts; *host; host++)
        g_string_append_printf(list, "%s%s=%d", list->len ? " " : "", *host, tasks_of(*host, began, counts));
    *slots = g_string_free(list, FALSE);
    if (counts)
        g_array_unref(counts);
    g_strfreev(began);
    return hosts;
}

void dome__slurm_reach(void)
{
    if (g_getenv(DOME_VARIABLE_RSH) || g_getenv("PVM_RSH"))
        return;
    /* A shell splits the words, and the path of this command may have blanks. */
    char *command = g_strdup_printf("/proc/%d/exe slurm step", (int)getpid());
    g_setenv(DOME_VARIABLE_RSH, command, TRUE);
    g_free(command);
}
