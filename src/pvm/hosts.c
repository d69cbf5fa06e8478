/* The user's own virtual machine, for commands that show and change it. These functions may block as long as PVM does: call them
 * in a separate process. */
#include "pvm/pvm.h"

#include <fcntl.h>
#include <glib.h>
#include <pvm3.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

const char *dome__pvm_version(void)
{
    return pvm_version();
}

static bool enrol(char **message)
{
    pvm_setopt(PvmAutoErr, 0);
    int tid = pvm_mytid();
    if (tid < 0)
        *message = g_strdup_printf("cannot enrol in the PVM virtual machine (PVM error %d); see dome doctor", tid);
    return tid >= 0;
}

static void host_free(void *data)
{
    dome_pvm_host *host = data;
    g_free(host->name);
    g_free(host->arch);
    g_free(host);
}

static GPtrArray *list(int own_tid, char **message)
{
    struct pvmhostinfo *info;
    struct pvmtaskinfo *task;
    int n = 0, architectures = 0, tasks = 0, code = pvm_config(&n, &architectures, &info);
    if (code >= 0)
        code = pvm_tasks(0, &tasks, &task);
    if (code < 0) {
        *message = g_strdup_printf("cannot get the list of hosts from the PVM daemon (PVM error %d)", code);
        return NULL;
    }
    GPtrArray *hosts = g_ptr_array_new_with_free_func(host_free);
    for (int i = 0; i < n; i++) {
        dome_pvm_host *host = g_new0(dome_pvm_host, 1);
        host->name = g_strdup(info[i].hi_name);
        host->arch = g_strdup(info[i].hi_arch);
        host->format = info[i].hi_dsig;
        for (int k = 0; k < tasks; k++)
            host->tasks += task[k].ti_host == info[i].hi_tid && task[k].ti_tid != own_tid;
        g_ptr_array_add(hosts, host);
    }
    return hosts;
}

GPtrArray *dome__pvm_hosts(char **message)
{
    GPtrArray *hosts = enrol(message) ? list(pvm_mytid(), message) : NULL;
    pvm_exit();
    return hosts;
}

/* Accepts a name without its domain, as PVM does. */
static const dome_pvm_host *find(GPtrArray *hosts, const char *name)
{
    for (guint i = 0; i < hosts->len; i++) {
        const dome_pvm_host *host = hosts->pdata[i];
        size_t length = strlen(name);
        if (strncmp(host->name, name, length) == 0 && (host->name[length] == 0 || host->name[length] == '.'))
            return host;
    }
    return NULL;
}

static char *why_not_removed(GPtrArray *hosts, const char *name, bool force)
{
    const dome_pvm_host *host = find(hosts, name);
    if (!host)
        return g_strdup_printf("host %s is not in the virtual machine", name);
    if (host == hosts->pdata[0])
        return g_strdup_printf("host %s is the first of the virtual machine, which ends without it: dome hosts halt", name);
    if (host->tasks && !force)
        return g_strdup_printf("host %s has %d task%s running: --force ends %s", name, host->tasks, host->tasks == 1 ? "" : "s",
                               host->tasks == 1 ? "it" : "them");
    return NULL;
}

bool dome__pvm_remove_hosts(char **names, bool force, char **message)
{
    GPtrArray *hosts = enrol(message) ? list(pvm_mytid(), message) : NULL;
    int n = (int)g_strv_length(names), *infos = g_new0(int, n + 1);
    if (hosts)
        for (int i = 0; i < n && !*message; i++)
            *message = why_not_removed(hosts, names[i], force);
    if (hosts && !*message) {
        for (int i = 0; i < n; i++) { /* replace by the name that PVM uses */
            const char *full = find(hosts, names[i])->name;
            names[i] = g_strdup(full);
        }
        int code = n ? pvm_delhosts(names, n, infos) : 0;
        for (int i = 0; i < n && !*message; i++)
            if (code < 0 || infos[i] < 0)
                *message = g_strdup_printf("host %s cannot be removed (PVM error %d)", names[i], code < 0 ? code : infos[i]);
    }
    g_clear_pointer(&hosts, g_ptr_array_unref);
    g_free(infos);
    pvm_exit();
    return !*message;
}

char **dome__pvm_other_hosts(void)
{
    struct pvmhostinfo *info;
    int n = 0, architectures = 0;
    char *message = NULL, **names = NULL;
    g_unsetenv("PVMEPID");
    if (enrol(&message) && pvm_config(&n, &architectures, &info) >= 0) {
        const int own = pvm_tidtohost(pvm_mytid());
        names = g_new0(char *, n + 1);
        for (int i = 0, k = 0; i < n; i++)
            if (info[i].hi_tid != own)
                names[k++] = g_strdup(info[i].hi_name);
    }
    g_free(message);
    pvm_exit();
    return names;
}

bool dome__pvm_machine_start(const char *address, char **message)
{
    char *name = address ? g_strdup_printf("-n%s", address) : NULL, *arguments[] = {name, NULL};
    struct rlimit files;
    if (getrlimit(RLIMIT_NOFILE, &files) == 0 && files.rlim_cur > 1024) {
        files.rlim_cur = 1024; /* the daemon uses select, and closes every possible descriptor at each spawn */
        setrlimit(RLIMIT_NOFILE, &files);
    }
    if (!g_getenv("PVM_RSH")) {
        char *ssh = g_find_program_in_path("ssh");
        if (ssh)
            g_setenv("PVM_RSH", ssh, TRUE);
        g_free(ssh);
    }
    setsid(); /* the daemon survives the terminal */
    pvm_setopt(PvmAutoErr, 0);
    int code = pvm_start_pvmd(name ? 1 : 0, arguments, 1);
    if (code < 0 && code != PvmDupHost)
        *message = g_strdup_printf("the PVM daemon cannot be started (PVM error %d); see dome doctor", code);
    g_free(name);
    pvm_exit();
    return code >= 0 || code == PvmDupHost;
}

/* ---- programs ---- */

static char mailbox[] = "dome-program";

void dome__pvm_announce(const char *text)
{
    char *copy = g_strdup(text);
    dome__pvm_enter();
    int buffer = pvm_initsend(PvmDataDefault);
    /* Errors are ignored: they only keep dome ps on other hosts from listing the program. */
    if (buffer > 0 && pvm_pkstr(copy) >= 0)
        pvm_putinfo(mailbox, buffer, PvmMboxMultiInstance);
    dome__pvm_leave();
    g_free(copy);
}

GPtrArray *dome__pvm_announced(char **message)
{
    int classes = 0, code = enrol(message) ? 0 : -1;
    struct pvmmboxinfo *info = NULL;
    GPtrArray *texts = code < 0 ? NULL : g_ptr_array_new_with_free_func(g_free);
    if (texts)
        code = pvm_getmboxinfo(mailbox, &classes, &info);
    for (int i = 0; texts && code >= 0 && i < classes; i++)
        for (int k = 0; strcmp(info[i].mi_name, mailbox) == 0 && k < info[i].mi_nentries; k++) {
            char text[4096] = "";
            int bytes = 0, buffer = pvm_recvinfo(mailbox, info[i].mi_indices[k], PvmMboxDefault);
            if (buffer <= 0 || pvm_bufinfo(buffer, &bytes, NULL, NULL) < 0 || bytes >= (int)sizeof text || pvm_upkstr(text) < 0)
                continue; /* removed meanwhile, or not an entry of Dome */
            g_ptr_array_add(texts, g_strdup(text));
        }
    pvm_exit();
    return texts;
}
