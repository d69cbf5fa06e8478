/* Makes this process a task of the program: it starts the other tasks, or joins those that started it. */
#include "program/start.h"

#include "launch/launch.h"
#include "local/local.h"
#include "machine/bind.h"
#include "machine/hosts_script.h"
#include "options/option_rules.h"
#include "program/change.h"
#include "program/links.h"
#include "program/placement.h"
#include "program/program_operations.h"
#include "program/providers.h"
#include "program/recording.h"
#include "program/restarts.h"
#include "system/environment_variables.h"
#include "system/own_program.h"
#include "system/say.h"
#include "system/time.h"
#include "watch/once.h"
#include "watch/watch.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void die_of(dome_env *env, dome_end end, int exit_status, const char *text) __attribute__((noreturn));

/* Reports a failure during the start, when there is no operation to name. */
static void die_of(dome_env *env, dome_end end, int exit_status, const char *text)
{
    fflush(stdout);
    if (env && env->watch)
        dome__watch_fail(env->watch, end, exit_status, text);
    dome__say("%s", text);
    if (env)
        dome__recording_close(env, exit_status, text);
    exit(exit_status);
}

void dome__start_failed(dome_env *env, int exit_status, const char *text)
{
    die_of(env, exit_status == 1 ? DOME_END_START : DOME_END_OWN, exit_status, text);
}

/* Ends a start that the launcher cannot go on with: by a loss, after which the program is started again, if that is the cause. */
static void launcher_failed(dome_env *env, const char *text) __attribute__((noreturn));

static void launcher_failed(dome_env *env, const char *text)
{
    const dome_launcher *launcher = env->change->start.provider->launcher;
    const bool lost = (launcher->can & DOME_LAUNCHER_SPAWN) && launcher->lost();
    die_of(env, lost ? DOME_END_LOSS : DOME_END_START, 1, text);
}

bool dome__is_loss(int status)
{
    return status == DOME_ERR_COMM || status == DOME_ERR_LOST;
}

/* The same where the tasks have begun to send messages to each other. */
static void transport_failed(dome_env *env, int status, const char *text) __attribute__((noreturn));

static void transport_failed(dome_env *env, int status, const char *text)
{
    die_of(env, dome__is_loss(status) ? DOME_END_LOSS : DOME_END_START, 1, text);
}

static void begin_trace(dome_env *env, int rank, char **arguments)
{
    char *message = NULL;
    if (!dome__recording_prepare(env, rank, arguments, &message))
        dome__start_failed(env, 1, message);
}

static char *host_name(void)
{
    char name[256] = "localhost";
    gethostname(name, sizeof name - 1);
    return g_strdup(name);
}

/* Describes the operation that a task is in, for a message about tasks that disagree. */
static char *describe(dome_transport *transport, int rank, const dome_stamp *stamp)
{
    const dome_env *env = transport->owner;
    const char *object = NULL;
    for (const dome_object *o = NULL; stamp->object && (o = dome_object_next(env, o));)
        if (dome_object_id(o) == stamp->object)
            object = dome_object_name(o);
    return g_strdup_printf("task %d on host %s is in %s%s%s%s (operation %" G_GUINT64_FORMAT ")", rank, env->hosts[rank],
                           dome__operation_name(stamp->operation), object ? " of '" : "", object ? object : "", object ? "'" : "",
                           stamp->sequence);
}

static void stand(dome_env *env, dome_transport *transport)
{
    env->transport = transport;
    env->rank = transport->group.rank;
    env->size = transport->group.size;
    env->stamp = &transport->stamp;
    env->wait_ns = &transport->account.wait_ns;
    transport->owner = env;
    transport->describe = describe;
    if (env->watch)
        dome__watch_stand(env->watch, transport);
}

/* Reports an exit without dome_finalize of a single task, which has no hub to do so. */
static void say_unfinished(int status, void *process)
{
    dome_env *env = dome__this_env();
    if (!env || env->watch || GPOINTER_TO_INT(process) != getpid())
        return;
    char *line =
        g_strdup_printf("task 0 on host %s ended with exit status %d without dome_finalize", env->hosts[0], status & 0xff);
    fflush(NULL);
    dome__say("%s", line);
    dome__recording_close(env, status ? status : 1, line);
    if (!status)
        _exit(1);
}

static void become_self(dome_env *env, const dome_provider *provider, char **arguments)
{
    static bool registered;
    if (!registered)
        on_exit(say_unfinished, GINT_TO_POINTER(getpid()));
    registered = true;
    dome__once_open(false);
    begin_trace(env, 0, arguments);
    env->hosts = g_new0(char *, 2);
    env->hosts[0] = host_name();
    stand(env, provider->transport->open(NULL));
}

/* Binds this task to a processor if requested, opens the road between tasks of one host, and passes on what rank 0 knows of the
 * network. */
static void open_road(dome_env *env, dome_network *network)
{
    const dome_transport *t = env->transport;
    if (env->options.start.bind == DOME_BIND_CORE) {
        int place = 0, here = 0;
        for (int r = 0; r < t->group.size; r++)
            if (strcmp(env->hosts[r], env->hosts[t->group.rank]) == 0) {
                place += r < t->group.rank;
                here++;
            }
        if (!dome__bind_to_core(place, here) && place == 0)
            dome__say("the %d tasks on host %s are not bound to processors: there are fewer processors than tasks", here,
                      env->hosts[t->group.rank]);
    }
    int status = dome__local_open(env->transport, env->hosts, env->options.start.road);
    if (status)
        transport_failed(env, status, g_strdup_printf("tasks of one host cannot be joined: %s", env->transport->reason));
    status = dome__links_set(env, network);
    if (status)
        transport_failed(env, status, g_strdup(env->transport->reason));
}

static void take_hosts(dome_env *env, dome_members *members)
{
    env->hosts = g_steal_pointer(&members->hosts);
}

/* The name of the program is that by which task 0 was started: others may have been started by another path, and it is part of
 * the program's state, at the same place on all tasks. */
static void take_name(dome_env *env, dome_members *members)
{
    g_free(env->change->start.program);
    env->change->start.program = g_steal_pointer(&members->program);
}

/* The last steps of rank 0: waits until all tasks have joined, publishes the program, and opens the transport. */
static void gather_program(dome_env *env, const dome_provider *provider, dome_members *members, const char *hub,
                           dome_network *network, char *message)
{
    if (!members)
        launcher_failed(env, message);
    members->program = g_strdup(env->change->start.program);
    if (!provider->launcher->all_ready(members, MAX(env->options.timeout, 10), &message))
        die_of(env, DOME_END_LOSS, 1, message);
    if ((provider->launcher->can & DOME_LAUNCHER_PUBLISH) && g_str_has_suffix(hub, ";")) /* the machine is the user's own */
        provider->launcher->publish(hub);
    dome_transport *transport = provider->transport->open(members);
    take_hosts(env, members);
    dome__members_free(members);
    stand(env, transport);
    open_road(env, network);
}

static void begin_watch(dome_env *env, int rank, const char *host, char **arguments)
{
    begin_trace(env, rank, arguments);
    dome__healing_ready(env, host);
    env->call_log = dome__watch_call_log(env->watch);
    dome__watch_note(env->watch, 0, 0, DOME_OP_INIT, 0);
    if (!dome__watch_start(env->watch))
        dome__start_failed(
            env, 1, g_strdup_printf("task %d on host %s has no thread that watches over it: %s", rank, host, g_strerror(errno)));
}

static void watch_rank0(dome_env *env, const char *hub, char **arguments)
{
    dome_hub_address address;
    char *message = NULL, *host = host_name();
    dome__once_begin();
    if (!dome__hub_address_parse(&address, hub))
        dome__start_failed(env, 1, "DOME_HUB is set, but not by dome run: unset it");
    const dome_watch_request request = {
        .address = &address,
        .task = {0, env->change->view.number, 0, host, env->change->start.provider->launcher->title},
        .timeout = env->options.timeout,
        .own_output = true};
    env->watch = dome__watch_open(&request, &message);
    if (!env->watch)
        dome__start_failed(env, 1, message);
    if (env->supervised)
        dome__watch_quiet(env->watch);
    begin_watch(env, 0, host, arguments);
    dome__hub_address_clear(&address);
    g_free(host);
}

/* Tells the hub the host, so that it can name it if the start hangs. */
static void note_starting(void *context, const char *host)
{
    dome_env *env = context;
    char *text = g_strdup_printf("tasks on host %s", host);
    dome__watch_note(env->watch, 0, 0, DOME_OP_INIT, dome__text_word(env, text));
    g_free(text);
}

/* In a later view: the hosts of the tasks that are started, which the plan names; where it does not, or that host has left the
 * machine, the one that has the fewest for its slots. host: indices, by rank. */
static void place_again(const dome_env *env, const dome_launcher *launcher, const dome_again *again, char **hosts, int *slots,
                        int *host)
{
    const dome_view_plan *plan = &env->change->view.plan;
    const int n = (int)g_strv_length(hosts);
    int *tasks = g_new0(int, n);
    char **there = launcher->hosts_of(again->ids, plan->size);
    dome__placement_avoid(hosts, env->change->start.avoid, slots);
    tasks[0]++;
    for (int r = 1; r < plan->size; r++) {
        const int at = again->ids[r] && there ? dome__placement_find(hosts, there[r]) : -1;
        if (at >= 0)
            tasks[host[r] = at]++;
    }
    for (int r = 1; r < plan->size; r++) {
        const char *planned = plan->members[r].host;
        if (again->ids[r])
            continue;
        const int at = planned ? dome__placement_find(hosts, planned) : -1;
        host[r] = at >= 0 ? at : dome__placement_next(n, slots, tasks);
        tasks[host[r]]++;
    }
    g_strfreev(there);
    g_free(tasks);
}

/* Chooses the hosts of the tasks, and starts them there. again: those that are there already. */
static dome_members *spawn(dome_env *env, char **arguments, const char *hub, const dome_again *again, dome_network **network,
                           char **message)
{
    const dome_launcher *launcher = env->change->start.provider->launcher;
    char **hosts = launcher->hosts(message);
    if (!hosts)
        return NULL;
    *network = again ? NULL : dome__links_order(hosts);
    char *path = dome__own_program();
    const int n = (int)g_strv_length(hosts);
    int *slots = dome__placement_slots(hosts, env->change->start.slots);
    const dome_options *o = &env->options;
    const int wanted = o->start.tasks ? o->start.tasks : dome__placement_default(n, slots);
    const int size = again ? env->change->view.plan.size : dome__launching_in_range(o, wanted);
    int *host = g_new0(int, size);
    const char **names = g_new(const char *, size);
    g_unsetenv(DOME_VARIABLE_SLOTS);
    if (again)
        place_again(env, launcher, again, hosts, slots, host);
    else
        dome__placement_deal(env->options.start.place, n, slots, size, host);
    for (int r = 0; r < size; r++)
        names[r] = hosts[host[r]];
    const dome_spawn program = {.path = path ? path : arguments[0], .arguments = arguments + 1, .size = size, .names = names};
    dome_members *members = launcher->spawn(&program, hub, again, note_starting, env, message);
    g_free(path);
    g_free(slots);
    g_free(host);
    g_free(names);
    g_strfreev(hosts);
    return members;
}

/* Becomes rank 0, started from the shell or by `dome run`. The hub is running. */
static void become_first(dome_env *env, const dome_provider *provider, const char *hub, char **arguments)
{
    char *message = NULL;
    env->change->start.hub = g_strdup(hub);
    watch_rank0(env, hub, arguments);
    if (provider->launcher->can & DOME_LAUNCHER_MACHINE)
        provider->launcher->machine.prepare();
    dome_network *network = NULL;
    dome_members *members = spawn(env, arguments, hub, NULL, &network, &message);
    dome__watch_note(env->watch, 0, 0, DOME_OP_INIT, 0);
    gather_program(env, provider, members, hub, network, message);
}

/* The same in a later view: rank 0 is the process that it was, and so are the tasks that have stayed. */
static void become_first_again(dome_env *env, const dome_provider *provider, char **arguments)
{
    char *message = NULL;
    const dome_change *c = env->change;
    int *ids = g_new0(int, c->view.plan.size);
    const double limit = 2 * MAX(env->options.timeout, 10); /* the hub's is shorter: it knows which task is missing */
    if (!provider->launcher->enrol(&message))
        launcher_failed(env, message);
    watch_rank0(env, c->start.hub, arguments);
    if (!dome__watch_members(env->watch, ids, c->view.plan.size, limit))
        die_of(
            env, DOME_END_LOSS, 1,
            g_strdup_printf("not all tasks have come back within %g s to make up the next view of %d", limit, c->view.plan.size));
    for (int r = 0; c->view.standby && r < c->view.plan.size; r++)
        ids[r] = c->view.standby[r] ? c->view.standby[r] : ids[r];
    dome_network *network = NULL;
    const dome_again again = {c->view.number, ids};
    bool starts = false;
    for (int r = 0; r < c->view.plan.size; r++)
        starts |= ids[r] == 0;
    const uint64_t begin = dome__now_ns();
    dome_members *members = spawn(env, arguments, c->start.hub, &again, &network, &message);
    if (starts)
        dome__view_times_members(&env->change->times, begin);
    dome__watch_note(env->watch, 0, 0, DOME_OP_INIT, 0);
    if (!members)
        die_of(env, DOME_END_LOSS, 1, message);
    gather_program(env, provider, members, c->start.hub, network, message);
    g_free(ids);
}

static void watch_other(dome_env *env, const char *hub, int rank, const char *host, bool outside, int id)
{
    dome_hub_address address;
    char *message = NULL;
    env->change->start.outside = outside;
    if (!dome__hub_address_parse(&address, hub))
        dome__start_failed(env, 1, "task 0 uses another version of the library");
    if (outside)
        dome__hub_address_outside(&address);
    const dome_watch_request request = {
        .address = &address,
        .task = {rank, env->change->view.number, id, host, env->change->start.provider->launcher->title},
        .timeout = env->options.timeout,
        .output = env->options.output};
    env->watch = dome__watch_open(&request, &message);
    if (!env->watch)
        dome__start_failed(env, 1, message);
    begin_watch(env, rank, host, NULL);
    dome__hub_address_clear(&address);
}

static void join_program(dome_env *env, const dome_provider *provider, dome_members *members)
{
    dome_transport *transport = provider->transport->open(members);
    provider->launcher->ready(members);
    take_hosts(env, members);
    take_name(env, members);
    dome__members_free(members);
    stand(env, transport);
    open_road(env, NULL);
}

static void change_directory(const dome_env *env, const dome_members *members)
{
    if (chdir(members->directory) < 0 && env->options.output == DOME_OUTPUT_ALL)
        dome__say("task %d on host %s runs in another directory than rank 0: %s is not there", members->rank,
                  members->hosts[members->rank], members->directory);
}

static void become_other(dome_env *env, const dome_provider *provider)
{
    char *message = NULL;
    dome_members *members = provider->launcher->join(MAX(env->options.timeout, 10), &message);
    if (!members)
        launcher_failed(env, message);
    change_directory(env, members);
    env->change->view.number = members->view;
    env->change->start.hub = g_strdup(members->hub);
    const char *host = members->hosts[members->rank];
    watch_other(env, members->hub, members->rank, host, strcmp(host, members->hosts[0]) != 0, members->ids[members->rank]);
    join_program(env, provider, members);
}

/* The same in a later view: task 0 learns from the hub by which id it finds this task. */
static void become_other_again(dome_env *env, const dome_provider *provider)
{
    char *message = NULL;
    const dome_change *c = env->change;
    const int id = provider->launcher->enrol(&message);
    if (!id)
        launcher_failed(env, message);
    watch_other(env, c->start.hub, c->view.rank, c->start.host, c->start.outside, id);
    dome_members *members = provider->launcher->rejoin(2 * MAX(env->options.timeout, 10), &message);
    if (!members)
        launcher_failed(env, message);
    change_directory(env, members);
    join_program(env, provider, members);
}

/* Gathers the tasks that were started together. Their ranks are given here, whatever order they were started in. */
static dome_members *lead(dome_env *env, const dome_launcher *launcher, const char *hub, dome_network **network, char **message)
{
    dome_members *members = launcher->lead(hub, message);
    if (!members)
        return NULL;
    char **hosts = dome__placement_hosts(members->size, members->hosts);
    *network = dome__links_order(hosts);
    if (env->options.start.place == DOME_PLACE_FILL)
        dome__placement_sort(members, hosts);
    g_strfreev(hosts);
    return members;
}

static void check_siblings(dome_env *env, int siblings)
{
    if (env->options.start.tasks && env->options.start.tasks != siblings) {
        char *text = g_strdup_printf("--dome-tasks %d, but %d tasks were spawned together: leave the option out",
                                     env->options.start.tasks, siblings);
        dome__start_failed(env, 2, text);
    }
}

/* With --dome-restarts, tasks that were spawned together are of no use after a loss. So the first of them only stays to pass on
 * the output and to start as many tasks anew, and the others end. */
static void become_supervised_sibling(dome_env *env, const dome_launcher *launcher)
{
    int place, siblings = launcher->siblings(&place);
    if (place > 0)
        _exit(0);
    if (siblings == 1 && env->options.start.tasks)
        siblings = env->options.start.tasks;
    check_siblings(env, siblings);
    launcher->alone();
    dome__restarts_run(env, launcher, siblings);
}

/* A program that was spawned from the console keeps its tasks. The first one says so, and the others end. */
static void refuse_changes(dome_env *env, const dome_launcher *launcher)
{
    const dome_options *o = &env->options;
    int place;
    if (!o->start.hosts_script && o->size.policy != DOME_SIZE_AUTO)
        return;
    launcher->siblings(&place);
    if (place > 0)
        _exit(2);
    dome__start_failed(
        env, 2,
        g_strdup_printf("%s: a program that was spawned from the %s console keeps its tasks; start it from the shell, or by dome "
                        "run",
                        o->start.hosts_script ? "--dome-hosts-script" : "--dome-size auto", launcher->title));
}

/* Spawned from the console: the first of the tasks spawned together leads. Which one is first is known only after enrolling, when
 * it is too late to fork a hub, so each forks one before, and the others drop it. */
static void become_sibling(dome_env *env, const dome_provider *provider, char **arguments)
{
    refuse_changes(env, provider->launcher);
    if (env->options.loss.restarts)
        become_supervised_sibling(env, provider->launcher);
    dome_launch launch;
    dome_launch_request request = {.launcher = provider->launcher, .timeout = env->options.timeout, .only_listen = true};
    char *message = NULL;
    env->change->start.console = true;
    int place;
    if (!dome__launch_open(&launch, &request, &message))
        dome__start_failed(env, 1, message);
    dome__launch_fork_hub(&launch);
    int siblings = provider->launcher->siblings(&place);
    if (place > 0) {
        dome__launch_drop_hub(&launch);
        become_other(env, provider);
    } else if (siblings == 1 && env->options.start.tasks > 1) {
        become_first(env, provider, launch.hub, arguments);
    } else {
        env->change->start.hub = g_strdup(launch.hub);
        watch_rank0(env, launch.hub, arguments);
        check_siblings(env, siblings);
        dome_network *network = NULL;
        dome_members *members = lead(env, provider->launcher, launch.hub, &network, &message);
        gather_program(env, provider, members, launch.hub, network, message);
    }
}

/* Started by the user, or by `dome run`, which is then the hub. */
static void become_rank0(dome_env *env, const dome_provider *provider, char **arguments, const dome_attempt *attempt)
{
    char *hub = g_strdup(g_getenv(DOME_VARIABLE_HUB)), *message = NULL;
    if (!hub) {
        dome__once_open(true);
        dome_launch launch;
        char *slots = NULL, **hosts = NULL;
        const char *script = env->options.start.hosts_script;
        if (script && !(hosts = dome__hosts_script_ask(script, &slots, &message)))
            dome__start_failed(env, 1, g_strdup_printf("--dome-hosts-script: %s", message));
        if (slots)
            g_setenv(DOME_VARIABLE_SLOTS, slots, TRUE);
        g_free(slots);
        dome_launch_request request =
            dome__launching_request(&env->options, provider->launcher, env->supervised ? attempt : NULL);
        request.hosts = hosts;
        request.path = dome__own_program();
        request.directory = dome__own_directory();
        request.words = env->change->exec.words;
        if (!dome__launch_open(&launch, &request, &message)) {
            if (attempt->report_fd)
                dome__supervise_failed(attempt, launch.machine.daemon < 0, message);
            dome__start_failed(env, 1, message);
        }
        g_strfreev(hosts);
        if (!env->options.start.tasks && launch.machine.directory && !script)
            env->options.start.tasks = dome__launching_in_range(&env->options, (int)g_get_num_processors());
        dome__launch_fork(&launch);
        hub = g_strdup(launch.hub);
    }
    g_unsetenv(DOME_VARIABLE_HUB); /* programs that this one may start must not see it */
    become_first(env, provider, hub, arguments);
    g_free(hub);
}

/* Notes whether a supervisor has started this process, and what it gives in case that this becomes the hub: where it reports, or
 * 0; the most losses that it may heal. */
static dome_attempt take_supervised(dome_env *env)
{
    const char *text = g_getenv(DOME_VARIABLE_SUPERVISED);
    dome_attempt s = {0};
    if (text)
        sscanf(text, "%d %d %d", &s.report_fd, &s.left, &s.shown_fd);
    env->supervised |= text != NULL;
    g_unsetenv(DOME_VARIABLE_SUPERVISED);
    if (s.report_fd)
        fcntl(s.report_fd, F_SETFD, FD_CLOEXEC);
    if (s.shown_fd > 0)
        fcntl(s.shown_fd, F_SETFD, FD_CLOEXEC);
    return s;
}

void dome__start(dome_env *env, char **arguments)
{
    const char *message = NULL;
    char *broken = NULL;
    const dome_attempt attempt = take_supervised(env);
    const dome_change *c = env->change;
    const dome_options *o = &env->options;
    const int tasks = o->start.tasks == 1 && dome__restarts_hub_for_one(o) ? MAX(o->size.most, 2) : o->start.tasks;
    const dome_provider *provider = dome__provider_choose(c->view.back ? c->start.provider_name : env->options.start.transport,
                                                          c->view.back ? 0 : tasks, &message);
    if (!provider)
        dome__start_failed(env, 2, message);
    env->change->start.provider = provider;
    const dome_launcher *launcher = provider->launcher;
    const bool one = !(launcher->can & (DOME_LAUNCHER_SPAWN | DOME_LAUNCHER_TOGETHER));
    const dome_origin origin = one ? DOME_STARTED_BY_USER : launcher->origin();
    if (!c->view.back && origin != DOME_STARTED_BY_TASK &&
        (broken = dome__option_rules_broken(DOME_RULES_OF_START, o, NULL, env->supervised)))
        dome__start_failed(env, 2, broken);
    if (c->view.back && c->view.rank == 0)
        become_first_again(env, provider, arguments);
    else if (c->view.back)
        become_other_again(env, provider);
    else if (dome__restarts_needed(o) && !env->supervised && origin == DOME_STARTED_BY_USER)
        dome__restarts_run(env, launcher, 0);
    else if (one)
        become_self(env, provider, arguments);
    else if (origin == DOME_STARTED_BY_TASK)
        become_other(env, provider);
    else if (origin == DOME_STARTED_TOGETHER)
        become_sibling(env, provider, arguments);
    else
        become_rank0(env, provider, arguments, &attempt);
}
