/* dome net: what the network between the hosts is like.
 *
 * The command is its own program: it starts itself on each host, where it obeys the first one's orders (network/measure.h). As
 * for any program, the process that was started becomes the hub, which takes down a private machine however the command ends. Its
 * child measures in a process of its own, since PVM's library may wait for minutes for a host that does not answer: SIGALRM ends
 * that process, and the host it waited for stands in shared memory. */
#include "commands.h"
#include "in_time.h"
#include "launch/launch.h"
#include "machine/remote.h"
#include "network/measure.h"
#include "network/network_file.h"
#include "network_picture.h"
#include "program/providers.h"
#include "system/environment_variables.h"
#include "system/say.h"
#include "transport/address.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

/* Seconds: for a daemon to start a task, or to join; for a host to answer; for a host without orders; for all. */
enum { START_LIMIT = 10, ANSWER_LIMIT = 8, IDLE_LIMIT = 30, WHOLE_LIMIT = 600 };

/* In memory that the measuring process shares. */
typedef struct asked {
    char host[256];     /* that it waits for */
    char silent[65536]; /* hosts that were left out, in the words of a message */
} asked;

typedef struct request {
    const dome_provider *provider;
    const char *hub;
    asked *asked;
} request;

/* ---- on each host ---- */

static void idle(void)
{
    alarm(IDLE_LIMIT);
}

/* Started by another process of this command. */
static int be_host(const dome_provider *provider)
{
    char *message = NULL;
    alarm(IDLE_LIMIT);
    dome_members *members = provider->launcher->join(START_LIMIT, &message);
    if (!members)
        dome__command_fail(1, "net: %s", message);
    dome_transport *transport = provider->transport->open(members);
    provider->launcher->ready(members);
    dome__members_free(members);
    bool good = dome__network_obey(transport, idle);
    dome__transport_free(transport);
    return !good;
}

/* ---- measuring ---- */

static void starting(void *ctx, const char *host)
{
    asked *asked = ctx;
    g_strlcpy(asked->host, host, sizeof asked->host);
    alarm(START_LIMIT);
}

typedef struct asking_of {
    asked *asked;
    char **hosts;
} asking_of;

static void asking(void *ctx, int host)
{
    const asking_of *of = ctx;
    g_strlcpy(of->asked->host, of->hosts[host], sizeof of->asked->host);
    alarm(ANSWER_LIMIT);
}

static bool work_names(const void *data, GString *out, char **message)
{
    const request *r = data;
    char **hosts = r->provider->launcher->hosts(message), *text = hosts ? g_strjoinv("\n", hosts) : NULL;
    g_string_append(out, text ? text : "");
    g_free(text);
    g_strfreev(hosts);
    return text != NULL;
}

/* Starts a task on each host besides this one. */
static dome_transport *start_tasks(const request *r, char **hosts, char **message)
{
    const dome_launcher *launcher = r->provider->launcher;
    int n = (int)g_strv_length(hosts);
    const char **names = g_new(const char *, n + 1);
    char *arguments[] = {(char[]){"net"}, NULL}, *path = g_file_read_link("/proc/self/exe", NULL);
    names[0] = hosts[0];
    memcpy(names + 1, hosts, sizeof *names * (size_t)n);
    const dome_spawn program = {.path = path, .arguments = arguments, .size = n + 1, .names = names};
    dome_members *members = launcher->spawn(&program, r->hub, NULL, starting, r->asked, message);
    alarm(START_LIMIT + ANSWER_LIMIT); /* it joins within START_LIMIT, or that fails with a message */
    bool good = members && launcher->all_ready(members, START_LIMIT, message);
    dome_transport *transport = good ? r->provider->transport->open(members) : NULL;
    dome__members_free(members);
    g_free(path);
    g_free(names);
    return transport;
}

/* Adds a host to those that were left out. */
static void leave_out(asked *asked, const char *host)
{
    g_strlcat(asked->silent, asked->silent[0] ? ", " : "", sizeof asked->silent);
    g_strlcat(asked->silent, host, sizeof asked->silent);
}

/* The network of the hosts that answered. The others are named in asked. */
static dome_network *without_silent(const dome_network *network, const bool *silent, asked *asked)
{
    GPtrArray *names = g_ptr_array_new();
    for (int i = 0; i < network->hosts; i++)
        if (!silent[i])
            g_ptr_array_add(names, network->names[i]);
        else
            leave_out(asked, network->names[i]);
    dome_network *kept = dome__network_select(network, (int)names->len, (char **)names->pdata);
    g_ptr_array_unref(names);
    return kept;
}

/* The text of the network. */
static bool work_measure(const void *data, GString *out, char **message)
{
    const request *r = data;
    alarm(START_LIMIT);
    char **hosts = r->provider->launcher->hosts(message);
    if (!hosts)
        return false;
    dome_network *network = dome__network_new((int)g_strv_length(hosts), hosts);
    bool *silent = g_new0(bool, network->hosts);
    dome_transport *transport = network->hosts > 1 ? start_tasks(r, hosts, message) : NULL;
    if (network->hosts > 1 && !transport)
        return false;
    asking_of of = {r->asked, hosts};
    if (transport)
        dome__network_measure(transport, network, asking, &of, silent);
    dome_network *kept = without_silent(network, silent, r->asked);
    char *text = dome__network_text(kept);
    g_string_append(out, text);
    g_free(text);
    dome__network_free(kept);
    dome__network_free(network);
    g_free(silent);
    g_strfreev(hosts);
    return true; /* the end of this process closes the transport; it need not wait for silent hosts */
}

/* PVM's daemons are stuck for minutes once they have been told to start a task on a host that does not answer. So hosts of the
 * user's own machine are asked before, in the way in which they were added, and twice: they may be busy. Hosts that do not answer
 * are left out, unless none answers: then hosts cannot be asked here. */
static void ask_hosts(asked *asked, char **hosts)
{
    const guint n = g_strv_length(hosts);
    bool *answers = g_new0(bool, n + 1), *again = g_new0(bool, n + 1);
    guint there = 0;
    dome__hosts_run(hosts, "true", answers);
    GPtrArray *absent = g_ptr_array_new();
    for (guint i = 0; i < n; i++) {
        there += answers[i];
        if (!answers[i])
            g_ptr_array_add(absent, hosts[i]);
    }
    g_ptr_array_add(absent, NULL);
    if (there > 0 && there < n)
        dome__hosts_run((char **)absent->pdata, "true", again);
    GString *avoid = g_string_new(NULL);
    for (guint i = 0; there > 0 && i < n - there; i++)
        if (!again[i]) {
            g_string_append_printf(avoid, " %s", (char *)absent->pdata[i]);
            leave_out(asked, absent->pdata[i]);
        }
    if (avoid->len > 0)
        g_setenv(DOME_VARIABLE_AVOID, avoid->str, TRUE);
    g_string_free(avoid, TRUE);
    g_ptr_array_unref(absent);
    g_free(answers);
    g_free(again);
}

static dome_network *measure(const request *r)
{
    char *message = NULL, *text = dome__in_time(work_measure, r, WHOLE_LIMIT, &message);
    const char *reason;
    if (text && !*text) /* ended by SIGALRM */
        message =
            r->asked->silent[0]
                ? g_strdup_printf("no answer from %s, and PVM's daemons wait for it: dome hosts remove --force HOST removes it",
                                  r->asked->silent)
            : r->asked->host[0]
                ? g_strdup_printf("host %s does not answer: remove it from the machine, or mend it", r->asked->host)
                : g_strdup("the PVM daemon does not answer; see dome doctor");
    if (message)
        dome__command_fail(1, "net: %s", message);
    if (r->asked->silent[0])
        dome__say("net: no answer from %s; the other hosts are measured", r->asked->silent);
    dome_network *network = dome__network_parse(text, strlen(text), &reason);
    if (!network)
        dome__command_fail(1, "net: what was measured is of no use: %s", reason);
    g_free(text);
    return network;
}

/* ---- what is shown ---- */

typedef struct view {
    const dome_network *network;
    int clusters, *cluster, *ring;
    double ring_seconds;
} view;

static view view_of(const dome_network *network)
{
    view v = {.network = network};
    v.cluster = g_new0(int, network->hosts + 1);
    v.ring = g_new0(int, network->hosts + 1);
    v.clusters = dome__network_clusters(network, v.cluster);
    v.ring_seconds = dome__network_tour(network, v.ring);
    return v;
}

static void print_links_between(const view *v, const char *label, int a, int b)
{
    const dome_network *network = v->network;
    double bandwidth = dome__network_median(network, network->bandwidth, v->cluster, a, b);
    const char *sharing = dome__sharing_text(dome__network_sharing(network, v->cluster, a, b));
    dome_sharing_votes votes = dome__network_votes(network, v->cluster, a, b);
    if (!(bandwidth > 0))
        return;
    char *latency = dome__latency_text(dome__network_median(network, network->latency, v->cluster, a, b));
    char *speed = dome__speed_text(bandwidth);
    printf("%-16s %9s %11s", label, latency, speed);
    if (sharing)
        printf("  %-11s (%.0f of %.0f rounds hindered)", sharing, votes.hindered, votes.hindered + votes.free);
    putchar('\n');
    g_free(speed);
    g_free(latency);
}

static void print_clusters(const view *v)
{
    const dome_network *network = v->network;
    for (int c = 0; c < v->clusters; c++) {
        printf("cluster %d:", c + 1);
        for (int i = 0; i < network->hosts; i++)
            if (v->cluster[v->ring[i]] == c)
                dome__print(" %s", network->names[v->ring[i]]);
        putchar('\n');
    }
    printf("ring:");
    for (int i = 0; i < network->hosts; i++)
        dome__print(" %s", network->names[v->ring[i]]);
    printf("\n\n%-16s %9s %11s\n", "MEDIANS", "LATENCY", "BANDWIDTH");
    for (int a = 0; a < v->clusters; a++)
        for (int b = a; b < v->clusters; b++) {
            char *label = a == b ? g_strdup_printf("in cluster %d", a + 1) : g_strdup_printf("between %d and %d", a + 1, b + 1);
            print_links_between(v, label, a, b);
            g_free(label);
        }
}

static void print_links(const dome_network *network)
{
    int width = 4;
    for (int i = 0; i < network->hosts; i++)
        width = MAX(width, (int)strlen(network->names[i]));
    printf("\n%-*s %-*s %9s %11s %11s\n", width, "LINK", width, "", "LATENCY", "BANDWIDTH", "ALL AT ONCE");
    for (int a = 0; a < network->hosts; a++)
        for (int b = a + 1; b < network->hosts; b++) {
            int i = a * network->hosts + b;
            bool known = network->bandwidth[i] > 0;
            char *latency = known ? dome__latency_text(network->latency[i]) : g_strdup("not known");
            char *speed = known ? dome__speed_text(network->bandwidth[i]) : g_strdup("");
            char *crowded = network->crowded[i] > 0 ? dome__speed_text(network->crowded[i]) : g_strdup("");
            dome__print("%-*s %-*s %9s %11s %11s\n", width, network->names[a], width, network->names[b], latency, speed, crowded);
            g_free(crowded);
            g_free(speed);
            g_free(latency);
        }
}

/* With more hosts their links are too many to read. */
enum { MOST_HOSTS_IN_TABLE = 12 };

static void print_table(const view *v)
{
    const dome_network *network = v->network;
    if (network->hosts < 2) {
        puts("one host: there are no links to measure");
        return;
    }
    char *age = dome__network_age(network, (int64_t)time(NULL));
    printf("%d hosts, %d cluster%s, measured %s\n\n", network->hosts, v->clusters, v->clusters == 1 ? "" : "s", age);
    print_clusters(v);
    if (network->hosts <= MOST_HOSTS_IN_TABLE)
        print_links(network);
    g_free(age);
}

static void print_number(const char *name, double value)
{
    printf(", \"%s\": ", name);
    if (value > 0)
        printf("%.6g", value);
    else
        fputs("null", stdout);
}

static void print_medians_json(const view *v, int a, int b)
{
    const dome_network *network = v->network;
    const char *sharing = dome__sharing_text(dome__network_sharing(network, v->cluster, a, b));
    printf("{\"clusters\": [%d, %d]", a, b);
    print_number("latency", dome__network_median(network, network->latency, v->cluster, a, b));
    print_number("bandwidth", dome__network_median(network, network->bandwidth, v->cluster, a, b));
    dome_sharing_votes votes = dome__network_votes(network, v->cluster, a, b);
    if (sharing)
        printf(", \"sharing\": \"%s\", \"rounds\": {\"hindered\": %.0f, \"free\": %.0f}}", sharing, votes.hindered, votes.free);
    else
        fputs(", \"sharing\": null, \"rounds\": null}", stdout);
}

static void print_links_json(const dome_network *network)
{
    const char *before = "";
    for (int a = 0; a < network->hosts; a++)
        for (int b = a + 1; b < network->hosts; b++) {
            int i = a * network->hosts + b;
            if (!(network->bandwidth[i] > 0))
                continue;
            printf("%s\n    {\"hosts\": [%d, %d]", before, a, b);
            print_number("latency", network->latency[i]);
            print_number("bandwidth", network->bandwidth[i]);
            print_number("crowded", network->crowded[i]);
            putchar('}');
            before = ",";
        }
}

static void print_json(const view *v)
{
    const dome_network *network = v->network;
    int64_t age = (int64_t)time(NULL) - network->measured;
    printf("{\"measured\": %" G_GINT64_FORMAT ", \"old\": %s,\n  \"hosts\": [", network->measured,
           age > DOME_NETWORK_OLD ? "true" : "false");
    for (int i = 0; i < network->hosts; i++) {
        fputs(i ? ", {\"name\": " : "{\"name\": ", stdout);
        dome__json_string(stdout, network->names[i]);
        printf(", \"cluster\": %d}", v->cluster[i]);
    }
    fputs("],\n  \"ring\": [", stdout);
    for (int i = 0; i < network->hosts; i++)
        printf("%s%d", i ? ", " : "", v->ring[i]);
    printf("], \"ring_seconds\": %.6g,\n  \"clusters\": [", v->ring_seconds);
    for (int a = 0; a < v->clusters; a++)
        for (int b = a; b < v->clusters; b++) {
            fputs(a + b ? ",\n    " : "\n    ", stdout);
            print_medians_json(v, a, b);
        }
    fputs("],\n  \"links\": [", stdout);
    print_links_json(network);
    puts("]}");
}

static void show(const dome_network *network, bool json, const char *picture)
{
    view v = view_of(network);
    GError *error = NULL;
    if (json)
        print_json(&v);
    else
        print_table(&v);
    if (picture) {
        char *svg = dome__network_picture(network);
        if (!g_file_set_contents_full(picture, svg, -1, G_FILE_SET_CONTENTS_NONE, 0666, &error))
            dome__command_fail(1, "net: the picture cannot be written: %s", error->message);
        g_free(svg);
    }
    g_free(v.cluster);
    g_free(v.ring);
}

/* ---- the command ---- */

/* The names of the hosts, without starting a machine; NULL: there is one host. */
static char **hosts_named(const request *r, char **lines, const char *address)
{
    char *message = NULL, *left = NULL;
    if (lines) {
        GPtrArray *names = g_ptr_array_new();
        g_ptr_array_add(names, address ? g_strdup(address) : dome__outside_address());
        for (char **line = lines; *line; line++)
            g_ptr_array_add(names, g_strndup(*line, strcspn(*line, " \t")));
        g_ptr_array_add(names, NULL);
        return (char **)g_ptr_array_free(names, FALSE);
    }
    r->provider->launcher->machine.prepare();
    bool there = r->provider->launcher->machine.there(&left);
    g_free(left);
    if (!there)
        return NULL;
    char *text = dome__in_time(work_names, r, START_LIMIT, &message);
    if (!text)
        dome__command_fail(1, "net: %s", message);
    char **names = g_strsplit(text, "\n", 0);
    g_free(text);
    return names;
}

/* The links of these hosts as files know them, if they know some of each host. */
static dome_network *known_network(char **names)
{
    char *note = NULL;
    dome_network *network = dome__network_read((int)g_strv_length(names), names, &note);
    if (note)
        dome__say("net: %s", note);
    g_free(note);
    for (int a = 0; network && a < network->hosts; a++) {
        bool known = false;
        for (int b = 0; b < network->hosts; b++)
            known = known || network->bandwidth[a * network->hosts + b] > 0;
        if (!known)
            g_clear_pointer(&network, dome__network_free);
    }
    return network;
}

/* Returns in the process that measures; its parent is the hub. */
static void launch(request *r, char **lines, const char *address)
{
    static dome_launch launch;
    char *message = NULL;
    dome_launch_request request = {.launcher = r->provider->launcher,
                                   .timeout = START_LIMIT,
                                   .hosts = lines,
                                   .address = address,
                                   .before_init = true,
                                   .most_hosts = true};
    if (!dome__launch_open(&launch, &request, &message))
        dome__command_fail(1, "net: %s", message);
    dome__launch_fork(&launch);
    r->hub = launch.hub;
}

static void write_file(const dome_network *network)
{
    char *message = NULL, *path = dome__network_write(network, &message);
    if (!path)
        dome__say("net: %s", message);
    g_free(message);
    g_free(path);
}

int dome__command_net(int argc, char **argv)
{
    gboolean json = FALSE, again = FALSE;
    char *path = NULL, *address = NULL, *picture = NULL, *message = NULL;
    const GOptionEntry entries[] = {
        {"hosts", 0, 0, G_OPTION_ARG_FILENAME, &path, "Measure this host and those in FILE, a PVM hostfile", "FILE"},
        {"address", 0, 0, G_OPTION_ARG_STRING, &address, "With --hosts: address by which the others reach this host", "NAME"},
        {"again", 0, 0, G_OPTION_ARG_NONE, &again, "Measure also what is known", NULL},
        {"json", 0, 0, G_OPTION_ARG_NONE, &json, "Print an object in JSON", NULL},
        {"picture", 0, 0, G_OPTION_ARG_FILENAME, &picture, "Also write a picture, an SVG file", "FILE"},
        {0}};
    const char *why = NULL;
    request r = {.provider = dome__provider_choose("pvm", 2, &why)};
    if (!r.provider)
        dome__command_fail(1, "net: %s", why);
    if (r.provider->launcher->origin() == DOME_STARTED_BY_TASK)
        return be_host(r.provider);
    dome__command_parse(
        &argc, &argv, entries, "",
        "Shows how fast the links between the hosts of your virtual machine are, which hosts form clusters, and the\n"
        "best ring through all hosts. Measures them if that is not known, and keeps the result for programs.",
        0);
    char **lines = path ? dome__hostfile_read(path, NULL, &message) : NULL;
    if (message)
        dome__command_fail(2, "net: %s", message);
    char **names = hosts_named(&r, lines, address);
    bool one = !names || g_strv_length(names) < 2;
    dome_network *network = one || again ? NULL : known_network(names);
    if (one) {
        network = dome__network_new(1, (char *[]){(char *)g_get_host_name()});
    } else if (!network) {
        r.asked = mmap(NULL, sizeof *r.asked, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
        if (r.asked == MAP_FAILED)
            dome__command_fail(1, "net: no memory");
        if (!lines)
            ask_hosts(r.asked, names + 1);
        launch(&r, lines, address);
        network = measure(&r);
        if (network->hosts > 1)
            write_file(network);
    }
    show(network, json, picture);
    dome__network_free(network);
    g_strfreev(names);
    g_strfreev(lines);
    return 0;
}
