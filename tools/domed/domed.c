/* domed: the daemon of a host, which starts submitted programs and watches over them (src/daemon). */
#include "daemon/daemon.h"
#include "daemon/server.h"
#include "system/own_folder.h"
#include "system/say.h"
#include "system/terminal.h"

#include <dome/env.h>

#include <glib.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef struct options {
    char *folder, *socket, *engine, *name, *dome, *listen, *key;
    char **consoles;
    int slots;
    gboolean version, dedicated, owner;
} options;

static int fail(const char *text)
{
    dome__say("domed: %s", text);
    return 2;
}

/* The command beside this program. */
static char *find_dome(void)
{
    char path[PATH_MAX];
    const ssize_t n = readlink("/proc/self/exe", path, sizeof path - 1);
    path[MAX(n, 0)] = '\0';
    char *folder = g_path_get_dirname(path), *dome = g_build_filename(folder, "dome", NULL);
    g_free(folder);
    return dome;
}

/* A home may be that of several hosts. */
static char *usual_folder(const char *name)
{
    if (geteuid() == 0)
        return g_strdup("/var/lib/dome");
    return g_build_filename(g_get_user_data_dir(), "dome", "daemon", name, NULL);
}

static int parse(options *o, int argc, char **argv)
{
    const GOptionEntry entries[] = {
        {"state", 0, 0, G_OPTION_ARG_FILENAME, &o->folder, "Folder of its table (root: /var/lib/dome)", "DIR"},
        {"socket", 0, 0, G_OPTION_ARG_FILENAME, &o->socket, "Socket for all users (root: " DOME_DAEMON_SOCKET ")", "FILE"},
        {"engine", 0, 0, G_OPTION_ARG_STRING, &o->engine,
         "alone: this host by itself; corosync: a group of hosts (default: alone)", "alone|corosync"},
        {"slots", 0, 0, G_OPTION_ARG_INT, &o->slots, "Tasks that may compute here at a time (default: one for each processor)",
         "N"},
        {"name", 0, 0, G_OPTION_ARG_STRING, &o->name, "Name of this host, by which the others reach it (default: its own)",
         "HOST"},
        {"listen", 0, 0, G_OPTION_ARG_STRING, &o->listen,
         "Let the daemons of other hosts that have the same key ask this one, by TCP (port 7195 unless given)", "ADDRESS[:PORT]"},
        {"key", 0, 0, G_OPTION_ARG_FILENAME, &o->key,
         "The file with the key of these daemons, for its user alone (default: DIR/key, which --listen makes)", "FILE"},
        {"dedicated", 0, 0, G_OPTION_ARG_NONE, &o->dedicated, "This host computes for Dome alone: its load is not looked at",
         NULL},
        {"owner", 0, 0, G_OPTION_ARG_NONE, &o->owner,
         "This host has an owner: programs give way to somebody who types on a terminal", NULL},
        {"console", 0, 0, G_OPTION_ARG_FILENAME_ARRAY, &o->consoles,
         "A device or a file that the owner's activity touches, such as /dev/input/event0; may be repeated", "FILE"},
        {"version", 0, 0, G_OPTION_ARG_NONE, &o->version, "Print the version", NULL},
        {0}};
    GError *error = NULL;
    GOptionContext *context = g_option_context_new(NULL);
    g_option_context_set_summary(context, "Starts the programs of dome submit on this host, and watches over them.");
    g_option_context_add_main_entries(context, entries, NULL);
    const bool good = g_option_context_parse(context, &argc, &argv, &error);
    g_option_context_free(context);
    if (!good) {
        fail(error->message);
        g_error_free(error);
        return 2;
    }
    if (argc > 1)
        return fail("it takes options alone; see domed --help");
    return o->slots < 0 ? fail("--slots takes a number of tasks, 1 or more") : 0;
}

int main(int argc, char **argv)
{
    options o = {0};
    char *why = NULL;
    g_set_prgname("domed");
    int status = parse(&o, argc, argv);
    if (status)
        return status;
    if (o.version) {
        printf("domed " DOME_VERSION " (alone%s)\n", dome__engine_cpg.close ? ", corosync" : ", built without corosync");
        return 0;
    }
    const bool alone = !o.engine || strcmp(o.engine, "alone") == 0;
    if (!alone && strcmp(o.engine, "corosync") != 0)
        return fail("--engine takes alone or corosync");
    const bool root = geteuid() == 0;
    dome_daemon_setup setup = {.name = o.name ? o.name : g_get_host_name(),
                               .dome = find_dome(),
                               .slots = o.slots ? o.slots : (int)g_get_num_processors(),
                               .engine = alone ? &dome__engine_alone : &dome__engine_cpg};
    setup.listen = o.listen;
    setup.watch = (dome_host_watch_setup){setup.name, o.dedicated, o.owner, (const char *const *)o.consoles};
    setup.folder = o.folder ? o.folder : usual_folder(setup.name);
    setup.makes_key = !o.key;
    setup.key_file = o.key ? o.key : g_build_filename(setup.folder, "key", NULL);
    setup.socket = o.socket ? o.socket : root ? DOME_DAEMON_SOCKET : NULL;
    const int folder = dome__own_folder(setup.folder, &why);
    char *run = setup.socket ? g_path_get_dirname(setup.socket) : NULL;
    if (folder >= 0 && run && g_mkdir_with_parents(run, 0755) < 0)
        why = g_strdup_printf("%s cannot be made", run);
    if (folder < 0 || why)
        return fail(why ? why : "its folder cannot be made");
    close(folder);
    return dome__daemon_run(&setup);
}
