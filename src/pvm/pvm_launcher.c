/* The launcher table of PVM. */
#include "pvm/pvm.h"

#include "system/environment_variables.h"

static bool machine_there(char **note)
{
    char *stale = NULL;
    bool there = dome__pvm_daemon_answers(&stale);
    *note = stale
                ? g_strdup_printf("%s was left behind by a PVM daemon that has ended; using a private virtual machine (rm %s to "
                                  "mend)",
                                  stale, stale)
                : NULL;
    g_free(stale);
    return there;
}

static const char *machine_prepare(void)
{
    return dome__pvm_environment() ? "running as root: PVM_ALLOW_ROOT=1 is set for this run, since PVM refuses root without it"
                                   : NULL;
}

static bool fits(int tasks)
{
    if (dome__pvm_spawned())
        return true;
    if (tasks || g_get_num_processors() > 1)
        return tasks != 1;
    char *stale = NULL;
    bool there = dome__pvm_daemon_answers(&stale);
    g_free(stale);
    return there;
}

static dome_origin origin(void)
{
    if (!dome__pvm_spawned())
        return DOME_STARTED_BY_USER;
    return g_getenv(DOME_VARIABLE_JOIN) ? DOME_STARTED_BY_TASK : DOME_STARTED_TOGETHER;
}

static void alone(void)
{
    g_unsetenv("PVMEPID");
}

static pid_t machine_start(const char *directory, const char *address, bool hosts, int lifeline, double timeout, char **message)
{
    if (hosts)
        dome__pvm_write_rsh(directory);
    return dome__pvm_daemon_start(directory, address ? address : DOME_PVM_INSIDE, lifeline, timeout, message);
}

static void machine_enter(const char *directory)
{
    char *id = g_path_get_basename(directory);
    g_unsetenv("PVMSOCK");
    g_setenv("PVM_TMP", directory, TRUE);
    g_setenv("PVM_VMID", id, TRUE);
    g_free(id);
}

const dome_launcher dome__launcher_pvm = {
    .size = sizeof(dome_launcher),
    .name = "pvm",
    .title = "PVM",
    .can = DOME_LAUNCHER_SPAWN | DOME_LAUNCHER_TOGETHER | DOME_LAUNCHER_KILL | DOME_LAUNCHER_PUBLISH | DOME_LAUNCHER_MACHINE |
           DOME_LAUNCHER_AGAIN,
    .most = {DOME_PVM_TASKS_PER_HOST, DOME_PVM_TASKS},
    .fits = fits,
    .origin = origin,
    .hosts = dome__pvm_program_hosts,
    .spawn = dome__pvm_start,
    .lost = dome__pvm_lost,
    .siblings = dome__pvm_siblings,
    .lead = dome__pvm_lead,
    .alone = alone,
    .join = dome__pvm_join,
    .ready = dome__pvm_ready,
    .standby = dome__pvm_standby,
    .daemon_fd = dome__pvm_daemon_fd,
    .hosts_of = dome__pvm_hosts_of,
    .enrol = dome__pvm_enrol,
    .rejoin = dome__pvm_rejoin,
    .all_ready = dome__pvm_all_ready,
    .kill = dome__pvm_kill_tasks,
    .publish = dome__pvm_announce,
    .published = dome__pvm_announced,
    .machine = {.prepare = machine_prepare,
                .there = machine_there,
                .start = machine_start,
                .add = dome__pvm_add_hosts,
                .others = dome__pvm_other_hosts,
                .enter = machine_enter,
                .take_down = dome__pvm_take_down},
};
