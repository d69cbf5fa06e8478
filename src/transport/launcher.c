#include "transport/launcher.h"

void dome__members_free(dome_members *members)
{
    if (!members)
        return;
    g_free(members->ids);
    g_strfreev(members->hosts);
    g_free(members->formats);
    g_free(members->hub);
    g_free(members->directory);
    g_free(members->program);
    g_free(members->back);
    g_free(members);
}

char *dome__launcher_too_many(const dome_launcher *launcher, int tasks, int hosts)
{
    char *where = hosts == 0   ? g_strdup("one program can have")
                  : hosts == 1 ? g_strdup_printf("can be started on host %s alone", g_get_host_name())
                               : g_strdup_printf("can be started on the %d hosts of this virtual machine", hosts);
    char *line = g_strdup_printf("%d tasks are more than %s: at most %d on a host, and %d in one program; use a smaller "
                                 "--dome-tasks%s",
                                 tasks, where, launcher->most.on_host, launcher->most.in_program,
                                 hosts == 1 && tasks <= launcher->most.in_program ? ", or more hosts" : "");
    g_free(where);
    return line;
}
