#include "core/environment.h"
#include "balance/balance.h"
#include "balance/migrate.h"
#include "ckpt/checkpoint.h"
#include "core/terminal.h"
#include "core/trail.h"
#include "kernels/kernels.h"
#include "local/local.h"
#include "objects/eval.h"
#include "objects/failure.h"
#include "program/hooks.h"
#include "program/options.h"
#include "program/placement.h"
#include "program/profile.h"
#include "program/progress.h"
#include "program/recording.h"
#include "supervision/launch.h"
#include "supervision/watch.h"
#include "transport/agree.h"
#include "transport/collective.h"
#include "transport/transport.h"

#ifdef DOME_WITH_PVM
#include "pvm/pvm.h"
#endif

#include <dome/env.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void die_of(dome_env *env, dome_end end, int exit_status, const char *text) __attribute__((noreturn));
static void die(dome_env *env, int exit_status, const char *text) __attribute__((noreturn));

/* Before the environment stands there is no operation to name. */
static void die_of(dome_env *env, dome_end end, int exit_status, const char *text)
{
    fflush(stdout);
    if (env && env->watch)
        dome__watch_fail(env->watch, end, exit_status, text);
    fprintf(stderr, "dome: %s\n", text);
    if (env)
        dome__recording_close(env, exit_status, text);
    exit(exit_status);
}

static void begin_trace(dome_env *env, int rank, char **arguments)
{
    char *message = NULL;
    if (!dome__recording_prepare(env, rank, arguments, &message))
        die(env, 1, message);
}

static void die(dome_env *env, int exit_status, const char *text)
{
    die_of(env, exit_status == 1 ? DOME_END_START : DOME_END_OWN, exit_status, text);
}

static char *host_name(void)
{
    char name[256] = "localhost";
    gethostname(name, sizeof name - 1);
    return g_strdup(name);
}

/* Names both sides of a disagreement for a message. */
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
    env->rank = transport->rank;
    env->size = transport->size;
    env->stamp = &transport->stamp;
    env->wait_ns = &transport->wait_ns;
    transport->owner = env;
    transport->describe = describe;
    if (env->watch)
        dome__watch_stand(env->watch, transport);
}

/* With a single task nobody watches how it ends. */
static void say_unfinished(int status, void *process)
{
    dome_env *env = dome__this_env();
    if (!env || env->watch || GPOINTER_TO_INT(process) != getpid())
        return;
    char *line =
        g_strdup_printf("task 0 on host %s ended with exit status %d without dome_finalize", env->hosts[0], status & 0xff);
    fflush(NULL);
    fprintf(stderr, "%sdome: %s\n", dome__terminal_clear(STDERR_FILENO), line);
    dome__recording_close(env, status ? status : 1, line);
    if (!status)
        _exit(1);
}

static void become_self(dome_env *env, char **arguments)
{
    static bool registered;
    if (!registered)
        on_exit(say_unfinished, GINT_TO_POINTER(getpid()));
    registered = true;
    begin_trace(env, 0, arguments);
    env->hosts = g_new0(char *, 2);
    env->hosts[0] = host_name();
    stand(env, dome__transport_self_new());
}

#ifdef DOME_WITH_PVM

/* From here on tasks of one host have a road of their own. */
static void open_road(dome_env *env)
{
    const dome_transport *t = env->transport;
    if (env->options.bind == DOME_BIND_CORE) {
        int place = 0, here = 0;
        for (int r = 0; r < t->size; r++)
            if (strcmp(env->hosts[r], env->hosts[t->rank]) == 0) {
                place += r < t->rank;
                here++;
            }
        if (!dome__bind_to_core(place, here) && place == 0)
            fprintf(stderr, "dome: the %d tasks on host %s are not kept on processors of their own: there are not as many\n",
                    here, env->hosts[t->rank]);
    }
    if (dome__local_open(env->transport, env->hosts, env->options.road))
        die(env, 1, g_strdup_printf("tasks of one host cannot be joined: %s", env->transport->reason));
}

static void take_hosts(dome_env *env, dome_pvm_program *program)
{
    env->hosts = g_steal_pointer(&program->hosts);
}

/* The last steps of rank 0: others get to know where they are, and have all come. */
static void gather_program(dome_env *env, dome_pvm_program *program, const char *hub, char *message)
{
    if (!program)
        die(env, 1, message);
    if (!dome__pvm_all_ready(program, MAX(env->options.timeout, 10), &message))
        die_of(env, DOME_END_LOSS, 1, message);
    if (g_str_has_suffix(hub, ";")) /* a private machine is this program's alone */
        dome__pvm_announce(hub);
    dome_transport *transport = dome__transport_pvm_new(program);
    take_hosts(env, program);
    dome__pvm_program_free(program);
    stand(env, transport);
    open_road(env);
}

static void begin_watch(dome_env *env, int rank, char **arguments)
{
    begin_trace(env, rank, arguments);
    env->trail = dome__watch_trail(env->watch);
    dome__watch_note(env->watch, 0, 0, DOME_OP_INIT, 0);
    dome__watch_start(env->watch);
}

static void watch_rank0(dome_env *env, const char *hub, char **arguments)
{
    dome_hub_address address;
    char *message = NULL, *host = host_name();
    if (!dome__hub_address_parse(&address, hub))
        die(env, 1, "DOME_HUB is set, but not by dome run: unset it");
    env->watch = dome__watch_open(&address, 0, host, 0, true, env->options.timeout, env->options.output, &message);
    if (!env->watch)
        die(env, 1, message);
    if (env->supervised)
        dome__watch_quiet(env->watch);
    begin_watch(env, 0, arguments);
    dome__hub_address_clear(&address);
    g_free(host);
}

/* Should the start get stuck, the hub's line names the host. */
static void note_starting(void *context, const char *host)
{
    dome_env *env = context;
    char *text = g_strdup_printf("tasks on host %s", host);
    dome__watch_note(env->watch, 0, 0, DOME_OP_INIT, dome__text_word(env, text));
    g_free(text);
}

/* Rank 0 started from the shell or by `dome run`: the hub is there. */
static void become_first(dome_env *env, const char *hub, char **arguments)
{
    char *message = NULL, *path = g_file_read_link("/proc/self/exe", NULL);
    watch_rank0(env, hub, arguments);
    dome__pvm_environment();
    dome_pvm_program *program =
        dome__pvm_start(path ? path : arguments[0], arguments + 1, env->options.tasks, hub, note_starting, env, &message);
    dome__watch_note(env->watch, 0, 0, DOME_OP_INIT, 0);
    g_free(path);
    gather_program(env, program, hub, message);
}

static void become_other(dome_env *env)
{
    char *message = NULL;
    dome_hub_address address;
    dome_pvm_program *program = dome__pvm_join(MAX(env->options.timeout, 10), &message);
    if (!program)
        die(env, 1, message);
    if (chdir(program->directory) < 0 && env->options.output == DOME_OUTPUT_ALL)
        fprintf(stderr, "dome: task %d on host %s runs in another directory than rank 0: %s is not there\n", program->rank,
                program->hosts[program->rank], program->directory);
    if (!dome__hub_address_parse(&address, program->hub))
        die(env, 1, "the first task speaks another version of the library");
    if (strcmp(program->hosts[program->rank], program->hosts[0]) != 0)
        dome__hub_address_outside(&address);
    env->watch = dome__watch_open(&address, program->rank, program->hosts[program->rank], program->tids[program->rank], false,
                                  env->options.timeout, env->options.output, &message);
    if (!env->watch)
        die(env, 1, message);
    begin_watch(env, program->rank, NULL);
    dome__hub_address_clear(&address);
    dome_transport *transport = dome__transport_pvm_new(program);
    dome__pvm_ready(program);
    take_hosts(env, program);
    dome__pvm_program_free(program);
    stand(env, transport);
    open_road(env);
}

/* Spawned from the console: the first of the tasks spawned together leads. Which one that is shows only after
 * enrolling, when it is too late to fork a hub. */
static void become_sibling(dome_env *env, char **arguments)
{
    dome_launch launch;
    dome_launch_request request = {.timeout = env->options.timeout, .only_listen = true};
    char *message = NULL;
    int place;
    if (!dome__launch_open(&launch, &request, &message))
        die(env, 1, message);
    dome__launch_fork_hub(&launch);
    int siblings = dome__pvm_siblings(&place);
    if (place > 0) {
        dome__launch_drop_hub(&launch);
        become_other(env);
    } else if (siblings == 1 && env->options.tasks > 1) {
        become_first(env, launch.hub, arguments);
    } else {
        watch_rank0(env, launch.hub, arguments);
        if (env->options.tasks && env->options.tasks != siblings) {
            char *text = g_strdup_printf("--dome-tasks %d, but %d tasks were spawned together: leave the option out",
                                         env->options.tasks, siblings);
            die(env, 2, text);
        }
        dome_pvm_program *program = dome__pvm_lead(launch.hub, &message);
        gather_program(env, program, launch.hub, message);
    }
}

static void become_one_of_many(dome_env *env, char **arguments)
{
    const char *hub = g_getenv("DOME_HUB");
    char *own_hub = NULL, *message = NULL;
    if (dome__pvm_spawned()) {
        if (g_getenv("DOME_JOIN"))
            become_other(env);
        else
            become_sibling(env, arguments);
        return;
    }
    if (!hub) {
        dome_launch launch;
        dome_launch_request request = {.timeout = env->options.timeout};
        if (!dome__launch_open(&launch, &request, &message))
            die(env, 1, message);
        if (!env->options.tasks && launch.directory)
            env->options.tasks = (int)g_get_num_processors();
        dome__launch_fork(&launch);
        hub = launch.hub;
    }
    own_hub = g_strdup(hub);
    g_unsetenv("DOME_HUB"); /* not for programs that this one may start */
    become_first(env, own_hub, arguments);
    g_free(own_hub);
}

/* Whether this start needs a virtual machine. */
static bool one_task(const dome_env *env)
{
    const dome_options *o = &env->options;
    if (dome__pvm_spawned() || g_getenv("DOME_HUB") || g_strcmp0(o->transport, "pvm") == 0)
        return false;
    if (o->tasks)
        return o->tasks == 1;
    return g_get_num_processors() == 1 && !dome__launch_machine_there();
}

#else

static void become_one_of_many(dome_env *env, char **arguments)
{
    (void)arguments;
    die(env, 2, "this library was built without PVM: it can only run one task, --dome-tasks 1");
}

static bool one_task(const dome_env *env)
{
    return env->options.tasks <= 1 && g_strcmp0(env->options.transport, "pvm") != 0;
}

#endif

/* A second environment would start the program's tasks again, or wait for them for ever. */
static void refuse_second(dome_env *first)
{
    dome_operation op;
    dome__begin(&op, first, DOME_OP_INIT, NULL, 0);
    first->errors_return = false; /* there is nothing to return */
    dome__fail(first, DOME_ERR_STATE, "it has been called already");
}

dome_env *dome_init(int *argc, char ***argv)
{
    if (dome__this_env())
        refuse_second(dome__this_env());
    dome__open_streams();
    dome_env *env = g_new0(dome_env, 1);
    env->hooks = &dome__program_hooks;
    env->moved = g_new0(dome_moved, 1);
    env->progress = g_new0(dome_progress_state, 1);
    char *message = NULL, *none[] = {"program", NULL};
    char **arguments = g_strdupv(argv ? *argv : none); /* as given: the other tasks read the same options */
    if (!dome__options_parse(&env->options, g_getenv("DOME_OPTIONS"), argc, argv, &message))
        die(NULL, 2, message);
    env->supervised = g_getenv("DOME_SUPERVISED") != NULL;
    g_unsetenv("DOME_SUPERVISED");
    if (env->options.help || env->options.version) {
        char *text = env->options.help ? dome__options_help() : g_strdup("dome " DOME_VERSION "\n");
        fputs(text, stdout);
        exit(0);
    }
    dome__registry_init(env);
    env->eval = dome__eval_new(&env->options);
    env->block_times = g_ptr_array_new_with_free_func(dome__block_times_free);
    dome__kernels_limit(env->options.kernels);
    if (env->options.check_pointers)
        dome__storage_check(env);
    if (g_strcmp0(env->options.transport, "self") == 0) {
        if (env->options.tasks > 1)
            die(NULL, 2, "--dome-transport self runs one task: leave out --dome-tasks or use --dome-transport pvm");
        become_self(env, arguments);
    } else if (one_task(env)) {
        become_self(env, arguments);
    } else {
        become_one_of_many(env, arguments);
    }
    dome__set_this_env(env);
    env->balance = dome__balance_new(&env->options, env->transport);
    env->began_ns = dome__now_ns();
    dome__recording_stand(env);
    dome_operation op;
    dome__begin(&op, env, DOME_OP_INIT, NULL, (uint64_t)env->transport->size);
    int status = dome__balance_probe(env);
    if (status == DOME_OK)
        status = dome__checkpoint_start(env, arguments[0] ? arguments[0] : "program");
    dome__end(&op, status);
    if (env->watch)
        dome__watch_beat(env->watch); /* should nobody be left to say so later, the program is not in dome_init any more */
    g_strfreev(arguments);
    return env;
}

int dome_finalize(dome_env *env)
{
    if (!env)
        return 0;
    dome_operation op;
    dome__begin(&op, env, DOME_OP_FINALIZE, NULL, 0);
    /* a failure that one task finds in its recorded work is everybody's: all wait for each other below, or none */
    int known = env->error_status;
    dome__eval_finish(env);
    int failed = dome__failure_finish(env);
    dome__progress_end(env);
    dome__checkpoint_finish(env);
    if (!failed) {
        if (env->options.profile)
            failed = dome__profile_print(env);
        if (!failed)
            failed = dome__barrier(env->transport);
        if (failed)
            dome__fail_transport(env, failed);
    }
    if (failed && !known && env->transport->rank == 0) /* nobody can ask for it any more */
        fprintf(stderr, "%sdome: %s\n", dome__terminal_clear(STDERR_FILENO), dome_error_message(env));
    dome__registry_free(env);
    dome__eval_free(env->eval);
    dome__storage_check_no_more();
    dome__storage_trim();
    dome__end(&op, DOME_OK);
    dome__recording_finish(env);
    dome__checkpoint_free(env);
    dome__balance_free(env->balance);
    env->balance = NULL;
    g_ptr_array_unref(env->block_times);
    int status = env->error_status ? 1 : 0;
    fflush(NULL);
    if (env->watch)
        dome__watch_leave(env->watch);
    env->stamp = NULL;
    env->wait_ns = NULL;
    dome__transport_free(env->transport);
    env->trail = NULL;
    dome__watch_close(env->watch);
    env->watch = NULL;
    dome__recording_close(env, status, NULL);
    dome__operation_table_reset();
    dome__options_clear(&env->options);
    g_strfreev(env->hosts);
    g_free(env->error_message);
    g_free(env->moved);
    g_free(env->progress);
    g_free(env);
    dome__set_this_env(NULL);
    return status;
}

/* ---- what all tasks do together ---- */

void dome_print(dome_env *env, const char *format, ...)
{
    DOME_NEEDS(env, "the environment", );
    DOME_NEEDS(format, "the format", );
    if (env->transport->rank != 0)
        return;
    dome__progress_hide(env);
    va_list arguments;
    va_start(arguments, format);
    vprintf(format, arguments);
    va_end(arguments);
}

dome_status dome_checkpoint(dome_env *env)
{
    DOME_NEEDS(env, "the environment", DOME_ERR_ARGUMENT);
    dome_operation op;
    dome__begin(&op, env, DOME_OP_CHECKPOINT, NULL, 0);
    env->loops++;
    if (env->watch)
        dome__watch_loop(env->watch, env->loops);
    return dome__end(&op, dome__checkpoint_boundary(env));
}

dome_status dome_barrier(dome_env *env)
{
    DOME_NEEDS(env, "the environment", DOME_ERR_ARGUMENT);
    dome_operation op;
    dome__begin(&op, env, DOME_OP_BARRIER, NULL, 0);
    int status = dome__barrier(env->transport);
    return dome__end(&op, status ? dome__fail_transport(env, status) : DOME_OK);
}

dome_status dome_bcast(dome_env *env, int root, dome_type type, void *data, size_t count)
{
    DOME_NEEDS(env, "the environment", DOME_ERR_ARGUMENT);
    DOME_NEEDS(type, "the type", DOME_ERR_ARGUMENT);
    DOME_NEEDS(data || count == 0, "the place of the elements", DOME_ERR_ARGUMENT);
    dome_operation op;
    dome__begin_with(&op, env, DOME_OP_BCAST, NULL, (uint64_t[]){(uint64_t)root, count, dome_type_size(type)}, 3);
    int status;
    if (root < 0 || root >= env->transport->size)
        status = dome__fail(env, DOME_ERR_ARGUMENT, "there is no task %d among %d", root, env->transport->size);
    else if ((status = dome__bcast(env->transport, root, type, data, count)))
        status = dome__fail_transport(env, status);
    return dome__end(&op, status);
}
