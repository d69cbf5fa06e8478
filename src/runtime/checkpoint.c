#include "runtime/checkpoint.h"

#ifdef DOME_WITH_CHECKPOINT

#include "ckpt/background.h"
#include "ckpt/interval.h"
#include "ckpt/link.h"
#include "objects/object_private.h"
#include "runtime/collect.h"
#include "runtime/launch.h"
#include "runtime/watch.h"
#include "transport/collective.h"

#include <dome/env.h>

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <math.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* Where tasks agree at boundaries whether something has to be done, that shall not take more than a part of the time: once in so
 * many seconds. */
static const double CHECK_SECONDS = 0.1;

/* From one time to the next the number of boundaries grows by no more than this: those that come may be longer. */
enum { CHECK_GROWTH = 4 };

/* After SIGTERM a program has so long to come to a boundary. */
enum { END_SECONDS = 10 };

/* Before the first checkpoint its cost is a guess: bytes a second, and seconds. */
static const double FIRST_SPEED = 200e6, FIRST_COST = 0.01;

/* For the alignment of what is copied. */
enum { ROOM_FOR_RUN = 64 };

/* A failure an hour is expected until it is known better. */
static const double FIRST_MTBF = 3600;

/* What a new measurement of the cost counts against what was known. */
static const double COST_WEIGHT = 0.5;

/* As it was when this program began. */
typedef struct dome_run {
    uint64_t first, failures;
    double seconds;
    bool running;
} dome_run;

struct dome_checkpoints {
    char *directory, *program;
    bool in_memory;            /* the directory, which goes when the program comes to its end */
    uint64_t loop, next_check; /* boundaries passed, and the one at which to agree again; equal on all tasks */
    dome_ckpt_capture capture;
    dome_ckpt_link link;
    dome_ckpt_pieces pieces; /* groups of tasks that share a directory */
    dome_ckpt_background *background;
    dome_ckpt_job job; /* of the checkpoint under way */
    bool reserved;     /* room for copies has been made */
    bool under_way;    /* it has begun, and nobody has looked yet at what became of it */
    double job_pause;

    /* going on from one */
    dome_ckpt_file *from; /* NULL: not, or not any more */
    uint64_t collected;   /* its number, put together out of pieces; 0: none was */
    GHashTable *restored; /* names of objects that have got their values */

    /* rank 0 */
    dome_store *store;   /* leaders of groups as well */
    dome_ckpt *previous; /* the last good one; NULL: none to rest on */
    dome_run run;
    double began;    /* this program */
    uint64_t number; /* of the next */
    bool full;       /* it has to hold everything */
    double last;     /* when the last one was begun */
    double cost;     /* of one, seconds; 0: not known */
    double checked;  /* when tasks agreed last, and at which boundary */
    uint64_t checked_loop;
    unsigned failures; /* running */
    double written_at; /* when the last one was known to be written */

    dome_checkpoint_report report;
};

/* What signals have asked rank 0 for: a checkpoint (SIGUSR1), or one and then the end (SIGTERM). */
static volatile sig_atomic_t asked, ending;
static timer_t end_timer;

static void ask(int number)
{
    (void)number;
    asked = 1;
}

/* The program may not come to a boundary any more, or not soon: after a while, and with the second signal, it ends as it is. */
static void ask_to_end(int number)
{
    if (ending) {
        signal(number, SIG_DFL);
        raise(number);
    }
    const struct itimerspec once = {.it_value = {.tv_sec = END_SECONDS}};
    ending = 1;
    timer_settime(end_timer, 0, &once, NULL);
}

static void catch_signals(void)
{
    struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGTERM};
    struct sigaction on_usr1 = {.sa_handler = ask, .sa_flags = SA_RESTART};
    struct sigaction on_term = {.sa_handler = ask_to_end, .sa_flags = SA_RESTART}, was;
    asked = ending = 0;
    sigaction(SIGUSR1, &on_usr1, NULL);
    if (sigaction(SIGTERM, NULL, &was) == 0 && was.sa_handler == SIG_DFL &&
        timer_create(CLOCK_MONOTONIC, &event, &end_timer) == 0)
        sigaction(SIGTERM, &on_term, NULL);
}

/* end: and does what SIGTERM has asked for. */
static void leave_signals(bool end)
{
    struct sigaction now;
    if (sigaction(SIGUSR1, NULL, &now) == 0 && now.sa_handler == ask)
        signal(SIGUSR1, SIG_DFL);
    if (sigaction(SIGTERM, NULL, &now) == 0 && now.sa_handler == ask_to_end) {
        signal(SIGTERM, SIG_DFL);
        timer_delete(end_timer);
        if (end)
            raise(SIGTERM);
    }
}

/* ---- starting ---- */

static void say(dome_env *env, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* A line of rank 0's about something that does not end the program. */
static void say(dome_env *env, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    char *text = g_strdup_vprintf(format, arguments);
    va_end(arguments);
    g_strdelimit(text, "\n", ' ');
    dome__progress_hide(env);
    fprintf(stderr, "dome: %s\n", text);
    g_free(text);
}

static int share(dome_env *env, void *data, uint64_t count, dome_type type)
{
    int status = dome__bcast(env->transport, 0, type, data, count);
    return status ? dome__fail_transport(env, status) : DOME_OK;
}

/* All tasks mean rank 0's directory, wherever they run. */
static int agree_directory(dome_env *env, dome_checkpoints *c)
{
    const char *given = env->options.checkpoint_dir;
    c->in_memory = strcmp(given, DOME_CHECKPOINT_MEMORY) == 0;
    if (c->in_memory)
        given = g_getenv(DOME_CHECKPOINT_MEMORY_NAME);
    char *path = env->transport->rank == 0 && given ? g_canonicalize_filename(given, NULL) : NULL;
    int missing =
        dome__agree(env, env->transport->rank == 0 && !given ? DOME_ERR_OPTION : DOME_OK,
                    "--dome-checkpoint-dir memory: keeps checkpoints as long as `dome run --restarts` runs, which has not "
                    "started this program");
    if (missing != DOME_OK) {
        g_free(path);
        return missing;
    }
    uint64_t length = path ? strlen(path) : 0;
    int status = share(env, &length, 1, DOME_U64);
    if (status != DOME_OK) {
        g_free(path);
        return status;
    }
    if (!path)
        path = g_malloc0(length + 1);
    c->directory = path;
    return share(env, path, length, DOME_U8);
}

/* What the file `run` knows: the number of the first checkpoint of this run, since what is older is another run's; and how often
 * the run has failed in how many seconds. */
static char *run_path(const dome_checkpoints *c)
{
    return g_build_filename(c->directory, "run", NULL);
}

static dome_run read_run(const dome_checkpoints *c)
{
    char *path = run_path(c), *text = NULL, *end;
    dome_run run = {0};
    if (g_file_get_contents(path, &text, NULL, NULL)) {
        run.first = g_ascii_strtoull(text, &end, 10);
        run.failures = g_ascii_strtoull(end, &end, 10);
        double seconds = g_ascii_strtod(end, &end);
        run.seconds = seconds > 0 ? seconds : 0;
        run.running = strstr(end, "running") != NULL;
    }
    g_free(text);
    g_free(path);
    return run;
}

/* Renamed when it is complete: a program may be killed at any moment. */
static bool write_run(const dome_checkpoints *c, bool running, char **message)
{
    char *path = run_path(c), *part = g_strconcat(path, ".part", NULL), seconds[G_ASCII_DTOSTR_BUF_SIZE];
    g_ascii_formatd(seconds, sizeof seconds, "%.3f", c->run.seconds + dome_wtime() - c->began);
    char *text = g_strdup_printf("%" PRIu64 "\n%" PRIu64 " %s %s\n", c->run.first, c->run.failures, seconds,
                                 running ? "running" : "ended");
    bool good = g_file_set_contents_full(part, text, -1, G_FILE_SET_CONTENTS_NONE, 0666, NULL) && rename(part, path) == 0;
    if (!good && message)
        *message = g_strdup_printf("checkpoint directory '%s' cannot be written to: %s", c->directory, strerror(errno));
    g_free(text);
    g_free(part);
    g_free(path);
    return good;
}

/* A run that goes on although nobody has ended it has failed. */
static bool note_run(dome_checkpoints *c, bool goes_on, char **message)
{
    c->began = dome_wtime();
    c->run = goes_on ? read_run(c) : (dome_run){.first = c->number};
    c->run.failures += c->run.running;
    return write_run(c, true, message);
}

/* The mean time between failures that is given, or else that this run has seen so far. */
static double time_between_failures(const dome_env *env)
{
    const dome_checkpoints *c = env->checkpoints;
    double seconds = c->run.seconds + dome_wtime() - c->began;
    if (env->options.checkpoint_mtbf > 0)
        return env->options.checkpoint_mtbf;
    return c->run.failures > 0 ? seconds / (double)c->run.failures : MAX(seconds, FIRST_MTBF);
}

static dome_ckpt_file *open_number(const dome_checkpoints *c, uint64_t number, char **message)
{
    char *path = dome__ckpt_file_path(c->directory, number, 0, 0);
    dome_ckpt_file *file = dome__ckpt_open(path, message);
    if (file && !dome__ckpt_check_earlier(file, message)) {
        dome__ckpt_close(file);
        file = NULL;
    }
    g_free(path);
    return file;
}

bool dome__checkpoint_newest(const char *directory, const char *program, uint64_t *number, uint64_t *loop)
{
    const dome_checkpoints here = {.directory = (char *)directory};
    char *skipped = NULL, *message = NULL;
    dome_ckpt_file *file = dome__store_newest(directory, program, false, &skipped, &message);
    *number = file ? dome__ckpt_head(file)->number : 0;
    *loop = file ? dome__ckpt_head(file)->loop : 0;
    dome__ckpt_close(file);
    g_clear_pointer(&message, g_free);
    GPtrArray *items = dome__store_list(directory, &message);
    for (guint i = 0; items && i < items->len; i++) {
        const dome_store_item *item = items->pdata[i];
        const dome_ckpt *head = item->file ? dome__ckpt_head(item->file) : NULL;
        if (!head || item->damage || item->pieces == 0 || head->number <= *number || strcmp(head->program, program) != 0)
            continue;
        *number = head->number;
        *loop = head->loop;
    }
    if (items)
        g_ptr_array_unref(items);
    bool there = *number > 0 && *number >= read_run(&here).first;
    g_free(skipped);
    g_free(message);
    return there;
}

/* Rank 0 chooses: a file, or NULL, with *message if that is an error. */
static dome_ckpt_file *choose(dome_env *env, const dome_checkpoints *c, char **message)
{
    dome_ckpt_file *file = NULL;
    char *skipped = NULL, *none = NULL;
    if (env->options.restart == DOME_RESTART_NUMBER) {
        file = open_number(c, env->options.restart_number, message);
        const dome_ckpt *head = file ? dome__ckpt_head(file) : NULL;
        if (head && strcmp(head->program, c->program) != 0)
            *message = g_strdup_printf("checkpoint '%s' is of program '%s', not of '%s'", dome__ckpt_path(file), head->program,
                                       c->program);
        if (head && !*message)
            dome__ckpt_verify(file, message);
        if (*message) {
            dome__ckpt_close(file);
            file = NULL;
        }
        return file;
    }
    file = dome__store_newest(c->directory, c->program, true, &skipped, &none);
    char **lines = g_strsplit(skipped ? skipped : "", "\n", -1);
    for (char **line = lines; *line; line++)
        say(env, "%s: it is not used", *line);
    g_strfreev(lines);
    if (file && env->options.restart == DOME_RESTART_AUTO && dome__ckpt_head(file)->number < read_run(c).first) {
        dome__ckpt_close(file);
        file = NULL;
    } else if (!file && env->options.restart == DOME_RESTART_NEWEST) {
        *message = g_strdup_printf("there is nothing to go on from: %s", none);
    }
    g_free(skipped);
    g_free(none);
    return file;
}

static void take_up(dome_checkpoints *c, dome_ckpt_file *file)
{
    c->from = file;
    c->restored = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    c->loop = dome__ckpt_head(file)->loop;
}

/* A copy of a description that was read. */
static dome_ckpt *reread(const dome_checkpoints *c, uint64_t number)
{
    char *message = NULL, *path = dome__ckpt_file_path(c->directory, number, 0, 0);
    dome_ckpt_file *file = dome__ckpt_open(path, &message);
    dome_ckpt *ckpt = file ? dome__ckpt_take_head(file) : NULL;
    g_free(message);
    g_free(path);
    return ckpt;
}

/* Whether hosts share no directory: each has a piece of every checkpoint. */
static bool in_pieces(const dome_checkpoints *c)
{
    return c->pieces.count > 1;
}

static bool leads_group(const dome_env *env)
{
    const dome_ckpt_pieces *p = &env->checkpoints->pieces;
    return p->leader[p->group[env->transport->rank]] == env->transport->rank;
}

/* Pieces are put together where there are some: from here on all have the whole of the checkpoint to go on from. */
static int collect(dome_env *env, dome_checkpoints *c, char **message)
{
    const dome_options *o = &env->options;
    uint64_t first = read_run(c).first, wanted = o->restart == DOME_RESTART_NUMBER ? o->restart_number : 0, number = 0, next = 1;
    int status = share(env, &first, 1, DOME_U64);
    uint64_t from = o->restart == DOME_RESTART_NONE ? UINT64_MAX : o->restart == DOME_RESTART_AUTO ? first : 1;
    if (status == DOME_OK)
        status = dome__collect(env, c->directory, c->program, &c->pieces, from, wanted, &number, &next);
    c->number = next;
    c->collected = number;
    if (number == 0 && o->restart != DOME_RESTART_NONE && o->restart != DOME_RESTART_AUTO)
        *message = g_strdup_printf("there is nothing to go on from: the hosts' directories '%s' have no complete checkpoint%s",
                                   c->directory, wanted ? " of that number" : "");
    if (!*message && leads_group(env))
        note_run(c, number > 0, message);
    return status;
}

static int open_from(dome_env *env, dome_checkpoints *c)
{
    bool leads = env->transport->rank == 0;
    uint64_t number = 0;
    char *message = NULL;
    dome_ckpt_file *file = NULL;
    if (in_pieces(c)) {
        int status = collect(env, c, &message);
        if (status != DOME_OK)
            return status;
        if (leads && c->collected > 0)
            file = open_number(c, c->collected, &message);
    } else if (leads && env->options.restart != DOME_RESTART_NONE) {
        file = choose(env, c, &message);
    }
    if (!in_pieces(c) && leads && !message && dome__store_next_number(c->directory, &c->number, &message)) {
        if (note_run(c, file != NULL, &message) && !file && c->number > 1)
            say(env,
                "checkpoint directory '%s' has checkpoints up to number %" PRIu64 " already, which are not gone on from "
                "(--dome-restart would): new ones will take their place",
                c->directory, c->number - 1);
    }
    int status = dome__agree(env, message ? DOME_ERR_IO : DOME_OK, message);
    g_clear_pointer(&message, g_free);
    if (file)
        number = dome__ckpt_head(file)->number;
    if (status == DOME_OK)
        status = share(env, &number, 1, DOME_U64);
    if (status == DOME_OK && number > 0) {
        if (!leads)
            file = open_number(c, number, &message);
        status = dome__agree(env, file ? DOME_OK : DOME_ERR_IO, message);
        g_free(message);
    }
    if (status != DOME_OK || !file) {
        dome__ckpt_close(file);
        return status;
    }
    take_up(c, file);
    if (leads) {
        c->previous = in_pieces(c) ? NULL : reread(c, number);
        c->full = !c->previous;
        dome__trace_restart(env->trace, number);
        bool said = env->supervised && env->options.restart == DOME_RESTART_AUTO && number + 1 == c->number;
        if (!said)
            say(env, "going on from checkpoint %" PRIu64 ", after %" PRIu64 " loop boundaries", number, c->loop);
    }
    return DOME_OK;
}

/* The tasks' threads reach each other beside the transport. */
static int connect_tasks(dome_env *env, dome_checkpoints *c)
{
    dome_transport *t = env->transport;
    char *message = NULL;
    dome_ckpt_door door = {0};
    struct sockaddr_in address;
    int listening = -1, status;
    c->link = (dome_ckpt_link){.rank = 0, .size = 1};
    if (t->size == 1)
        return DOME_OK;
    if (t->rank == 0)
        listening = dome__ckpt_link_listen(&door, &message);
    status = dome__agree(env, message ? DOME_ERR_START : DOME_OK, message);
    if (status == DOME_OK)
        status = share(env, door.cookie, sizeof door.cookie, DOME_U8);
    if (status == DOME_OK)
        status = share(env, &door.port, 1, DOME_U64);
    if (status == DOME_OK) {
        if (t->rank > 0 && !dome__watch_peer(env->watch, &address))
            message = g_strdup("the address of task 0 is not known");
        else if (t->rank > 0)
            dome__ckpt_link_connect(&c->link, t->rank, t->size, &address, &door, &message);
        status = dome__agree(env, message ? DOME_ERR_START : DOME_OK, message);
    }
    if (status == DOME_OK && t->rank == 0)
        dome__ckpt_link_accept(&c->link, t->size, listening, &door, env->options.timeout, &message);
    else if (listening >= 0)
        close(listening);
    if (status == DOME_OK)
        status = dome__agree(env, message ? DOME_ERR_START : DOME_OK, message);
    g_free(message);
    return status;
}

int dome__checkpoint_start(dome_env *env, const char *program)
{
    if (!env->options.checkpoint_dir)
        return DOME_OK;
    dome_checkpoints *c = env->checkpoints = g_new0(dome_checkpoints, 1);
    c->program = g_path_get_basename(program);
    c->full = true;
    c->last = c->checked = dome_wtime();
    dome__ckpt_capture_init(&c->capture);
    int status = agree_directory(env, c);
    char *message = NULL;
    if (status != DOME_OK)
        return status;
    status = dome__find_groups(env, c->directory, &c->pieces);
    if (status != DOME_OK)
        return status;
    if (leads_group(env)) {
        c->store = dome__store_open(c->directory, c->program, &message);
        if (c->store)
            dome__clean_directory(c->directory);
    }
    status = dome__agree(env, message ? DOME_ERR_IO : DOME_OK, message);
    g_clear_pointer(&message, g_free);
    if (status == DOME_OK)
        status = connect_tasks(env, c);
    if (status == DOME_OK && in_pieces(c))
        status = dome__connect_groups(env, &c->link, &c->pieces);
    if (status == DOME_OK) {
        c->background = dome__ckpt_background_new(&c->link, &message);
        status = dome__agree(env, message ? DOME_ERR_START : DOME_OK, message);
        g_free(message);
    }
    if (env->transport->rank == 0)
        catch_signals();
    if (status == DOME_OK)
        status = open_from(env, c);
    c->next_check = c->checked_loop = c->loop;
    return status;
}

/* ---- copying the state ---- */

/* The blocks that this task writes, as one or two runs. What all tasks have is shared out among them. */
static int own_blocks(const dome_env *env, const dome_object_info *info, dome_span runs[2])
{
    int rank = env->transport->rank, count = 0;
    uint64_t blocks = info->layout ? dome_layout_blocks(info->layout) : 1, start, n;
    if (info->distribution == DOME_WHOLE) {
        uint64_t size = (uint64_t)env->transport->size, most = blocks / size, left = blocks % size, r = (uint64_t)rank;
        runs[0] = (dome_span){r * most + MIN(r, left), most + (r < left)};
        return runs[0].count > 0;
    }
    n = dome_layout_run(info->layout, rank, &start);
    uint64_t head = MIN(n, blocks - start);
    if (head > 0)
        runs[count++] = (dome_span){start, head};
    if (n > head)
        runs[count++] = (dome_span){0, n - head};
    return count;
}

static bool is_fixed(const dome_object *object, const dome_object_info *info)
{
    return info->type && !dome__object_has_write(object);
}

static uint64_t block_elements(const dome_object_info *info, uint64_t block)
{
    return info->layout ? dome_layout_block(info->layout, block).count : info->length;
}

static char *cannot(const dome_object *object, int status)
{
    return g_strdup_printf("'%s' cannot be saved: %s", dome_object_name(object), dome_status_text(status));
}

/* A run whose values lie together is copied as it is, and becomes portable later. */
static char *copy_values(dome_ckpt_capture *capture, const dome_object *object, const dome_object_info *info, const void *values,
                         dome_ckpt_run *run)
{
    uint64_t size = info->width * dome_type_size(info->type), bytes = 0;
    for (uint64_t k = 0; k < run->count; k++)
        bytes += block_elements(info, run->first + k) * size;
    char *to = dome__ckpt_capture_room(capture, bytes);
    if (!to)
        return cannot(object, DOME_ERR_MEMORY);
    memcpy(to, values, (size_t)bytes);
    run->type = info->type;
    uint64_t at = (uint64_t)(to - capture->buffer);
    for (uint64_t k = 0; k < run->count; k++) {
        dome_ckpt_block b = {.at = at, .bytes = block_elements(info, run->first + k) * size};
        at += b.bytes;
        g_array_append_val(capture->blocks, b);
    }
    return NULL;
}

static char *copy_written(dome_ckpt_capture *capture, const dome_object *object, const dome_ckpt_run *run)
{
    for (uint64_t k = 0; k < run->count; k++) {
        dome_ckpt_block b = {0};
        int status = dome_object_write_bytes(object, run->first + k, 1, &b.bytes);
        char *to = status == DOME_OK ? dome__ckpt_capture_room(capture, b.bytes) : NULL;
        if (status == DOME_OK && b.bytes > 0)
            status = to ? dome_object_write(object, run->first + k, 1, to, b.bytes) : DOME_ERR_MEMORY;
        if (status != DOME_OK)
            return cannot(object, status);
        b.at = to ? (uint64_t)(to - capture->buffer) : 0;
        g_array_append_val(capture->blocks, b);
    }
    return NULL;
}

static char *copy_run(dome_ckpt_capture *capture, const dome_object *object, const dome_object_info *info, uint64_t index,
                      dome_span blocks)
{
    dome_ckpt_run run = {.object = index, .first = blocks.first, .count = blocks.count, .blocks = capture->blocks->len};
    const void *values = is_fixed(object, info) ? dome_object_values(object, blocks.first, blocks.count) : NULL;
    char *problem = values ? copy_values(capture, object, info, values, &run) : copy_written(capture, object, &run);
    g_array_append_val(capture->runs, run);
    return problem;
}

/* What has changed of an object, or all of it. */
static char *copy_object(dome_env *env, dome_object *object, uint64_t index, bool full)
{
    dome_ckpt_capture *capture = &env->checkpoints->capture;
    dome_object_info info;
    dome_span runs[2];
    char *problem = NULL;
    int status = dome_object_describe(object, &info);
    int count = status == DOME_OK ? own_blocks(env, &info, runs) : 0;
    for (int r = 0; r < count && status == DOME_OK && !problem; r++) {
        if (full) {
            problem = copy_run(capture, object, &info, index, runs[r]);
            continue;
        }
        bool *changed = g_new(bool, runs[r].count);
        status = dome_object_changed(object, runs[r].first, runs[r].count, changed);
        for (uint64_t k = 0, end; k < runs[r].count && status == DOME_OK && !problem; k = end) {
            end = k + 1;
            while (end < runs[r].count && changed[end] == changed[k])
                end++;
            if (changed[k])
                problem = copy_run(capture, object, &info, index, (dome_span){runs[r].first + k, end - k});
        }
        g_free(changed);
    }
    if (status == DOME_OK && !problem)
        status = dome_object_mark_saved(object);
    return problem || status == DOME_OK ? problem : cannot(object, status);
}

static void copy_state(dome_env *env, bool full)
{
    dome_ckpt_capture *capture = &env->checkpoints->capture;
    uint64_t index = 0;
    fflush(stdout); /* what was printed up to here will not be printed again by who goes on from here */
    dome__ckpt_capture_empty(capture);
    if (!dome__env_settle(env))
        capture->problem = g_strdup("deferred work of the program has failed");
    for (dome_object *o = NULL; !capture->problem && (o = dome_object_next(env, o));)
        if (dome__object_is_named(o))
            capture->problem = copy_object(env, o, index++, full);
    if (capture->problem) {
        char *text =
            g_strdup_printf("%s (task %d on host %s)", capture->problem, env->transport->rank, env->hosts[env->transport->rank]);
        g_free(capture->problem);
        capture->problem = text;
    }
}

static dome_ckpt *describe_state(dome_env *env, uint64_t number, char **message)
{
    const dome_checkpoints *c = env->checkpoints;
    dome_ckpt *ckpt = dome__ckpt_new(c->program, number, c->loop);
    dome_object_info info;
    for (dome_object *o = NULL; !*message && (o = dome_object_next(env, o));)
        if (dome__object_is_named(o) && dome_object_describe(o, &info) == DOME_OK)
            dome__ckpt_add_object(ckpt, dome_object_name(o), dome_object_operations(o)->kind, &info, is_fixed(o, &info), message);
    return ckpt;
}

/* ---- writing ---- */

/* Once for a failure, once more if it goes on. */
static void tell_failure(dome_env *env, uint64_t number, const char *reason)
{
    dome_checkpoints *c = env->checkpoints;
    c->failures++;
    if (c->failures == 1)
        say(env, "checkpoint %" PRIu64 " was not written: %s; the program goes on%s", number, reason,
            c->previous ? ", and the checkpoint before stays" : " without one");
    else if (c->failures == 2)
        say(env, "checkpoint %" PRIu64 " was not written either: %s; this is not said again until one is", number, reason);
}

/* Rank 0 takes in what became of it. */
static void conclude(dome_env *env, dome_ckpt_job *job, double pause)
{
    dome_checkpoints *c = env->checkpoints;
    uint64_t number = job->ckpt->number;
    if (job->written) {
        if (env->watch)
            dome__watch_checkpoint(env->watch, number);
        dome__ckpt_free(c->previous);
        c->previous = in_pieces(c) ? NULL : g_steal_pointer(&job->ckpt);
        c->number = number + 1;
        c->full = in_pieces(c); /* what lies in a directory that is lost could not be referred to */
        dome__ckpt_free(g_steal_pointer(&job->ckpt));
        c->failures = 0;
        c->report.written++;
        c->written_at = dome_wtime();
        c->report.bytes += job->data_bytes;
        double cost = job->cost + pause;
        c->cost = c->cost > 0 ? (1 - COST_WEIGHT) * c->cost + COST_WEIGHT * cost : cost;
        write_run(c, true, NULL);
        if (job->message)
            say(env, "%s", job->message);
    } else {
        c->full = true;
        c->report.failed++;
        dome__trace_checkpoint_failed(env->trace, number);
        if (!job->lost) /* about that there will be another line */
            tell_failure(env, number, job->message);
        dome__ckpt_free(job->ckpt);
        if (job->previous_damaged) {
            dome__ckpt_free(c->previous);
            c->previous = NULL;
        }
    }
    g_free(job->message);
}

/* Looks at what became of the checkpoint under way; it is done. */
static void take_result(dome_env *env)
{
    dome_checkpoints *c = env->checkpoints;
    if (!c->under_way)
        return;
    c->under_way = false;
    if (env->transport->rank == 0)
        conclude(env, &c->job, c->job_pause);
    else
        g_free(c->job.message);
}

static void finish_writing(dome_env *env)
{
    dome__ckpt_background_wait(env->checkpoints->background);
    take_result(env);
}

/* Copies what has changed, and leaves the rest to the thread. */
static void begin_writing(dome_env *env, uint64_t number, bool full)
{
    dome_checkpoints *c = env->checkpoints;
    uint64_t stopped = dome__now_ns();
    finish_writing(env);
    double begin = dome_wtime();
    copy_state(env, full);
    uint64_t bytes = c->capture.used; /* from here on the thread's */
    c->job = (dome_ckpt_job){.directory = c->directory,
                             .capture = &c->capture,
                             .pieces = in_pieces(c) ? &c->pieces : NULL,
                             .store = c->store,
                             .keep = env->options.checkpoint_keep};
    if (env->transport->rank == 0) {
        char *problem = NULL;
        c->job.ckpt = describe_state(env, number, &problem);
        if (problem && !c->capture.problem)
            c->capture.problem = problem;
        c->job.previous = c->previous;
        c->job.full = full;
    }
    c->under_way = true;
    dome__ckpt_background_write(c->background, &c->job);
    c->job_pause = dome_wtime() - begin;
    c->report.pause += c->job_pause;
    c->report.longest_pause = MAX(c->report.longest_pause, c->job_pause);
    dome__trace_checkpoint(env->trace, number, stopped, bytes);
}

/* ---- when ---- */

/* What rank 0 tells all at a boundary. */
typedef struct order {
    uint64_t number; /* write this checkpoint; 0: none */
    uint64_t full;
    uint64_t next; /* boundary at which to ask again */
    uint64_t ending;
} order;

static uint64_t state_bytes(const dome_env *env)
{
    uint64_t bytes = 0;
    dome_object_info info;
    for (dome_object *o = NULL; (o = dome_object_next(env, o));)
        if (dome__object_is_named(o) && dome_object_describe(o, &info) == DOME_OK && info.type)
            bytes += info.length * info.width * dome_type_portable_size(info.type);
    return bytes;
}

/* What a copy of this task's part takes. */
static uint64_t own_bytes(const dome_env *env)
{
    uint64_t bytes = 0;
    dome_object_info info;
    dome_span runs[2];
    for (dome_object *o = NULL; (o = dome_object_next(env, o));) {
        if (!dome__object_is_named(o) || dome_object_describe(o, &info) != DOME_OK || !info.type)
            continue;
        int count = own_blocks(env, &info, runs);
        for (int r = 0; r < count; r++) {
            dome_span last =
                info.layout ? dome_layout_block(info.layout, runs[r].first + runs[r].count - 1) : (dome_span){0, info.length};
            uint64_t first = info.layout ? dome_layout_block(info.layout, runs[r].first).first : 0;
            bytes += (last.first + last.count - first) * info.width * dome_type_size(info.type) + ROOM_FOR_RUN;
        }
    }
    return bytes;
}

/* Seconds from one checkpoint to the next; 0: by loops. */
static double interval(const dome_env *env)
{
    const dome_checkpoints *c = env->checkpoints;
    const dome_options *o = &env->options;
    if (o->checkpoint_unit == DOME_CHECKPOINT_LOOPS)
        return 0;
    if (o->checkpoint_unit == DOME_CHECKPOINT_SECONDS)
        return o->checkpoint_every;
    double cost = c->cost > 0 ? c->cost : (double)state_bytes(env) / FIRST_SPEED + FIRST_COST;
    return dome__interval_daly(cost, time_between_failures(env));
}

/* The next boundary at which to agree: soon enough for the next checkpoint, and for who asks for one. */
static uint64_t next_check(const dome_env *env, double now, double left)
{
    dome_checkpoints *c = env->checkpoints;
    uint64_t passed = MAX(c->loop - c->checked_loop, 1);
    double each = (now - c->checked) / (double)passed;
    double wait = left > 0 ? MIN(left / 2, CHECK_SECONDS) : 0;
    uint64_t most = passed * CHECK_GROWTH, gap = each > 0 && wait / each < (double)most ? (uint64_t)(wait / each) : most;
    if (env->transport->size == 1)
        gap = 1;
    c->checked = now;
    c->checked_loop = c->loop;
    uint64_t next = c->loop + MAX(gap, 1);
    if (env->options.checkpoint_unit == DOME_CHECKPOINT_LOOPS) {
        uint64_t every = (uint64_t)env->options.checkpoint_every;
        next = MIN(next, (c->loop / every + 1) * every);
    }
    return next;
}

/* The files that the next checkpoint would refer to are still there. */
static bool previous_is_there(const dome_checkpoints *c)
{
    bool there = true;
    for (guint i = 0; there && i <= c->previous->earlier->len; i++) {
        uint64_t number = i < c->previous->earlier->len ? g_array_index(c->previous->earlier, dome_ckpt_earlier, i).number
                                                        : c->previous->number;
        char *path = dome__ckpt_file_path(c->directory, number, c->previous->piece, c->previous->pieces);
        there = access(path, R_OK) == 0;
        g_free(path);
    }
    return there;
}

static order decide(dome_env *env)
{
    dome_checkpoints *c = env->checkpoints;
    double now = dome_wtime(), every = interval(env), left = every > 0 ? every - (now - c->last) : CHECK_SECONDS;
    order what = {.ending = ending != 0};
    bool by_loops = every == 0 && c->loop % (uint64_t)env->options.checkpoint_every == 0;
    bool due = asked || ending || (every > 0 ? left <= 0 : by_loops);
    c->report.interval = every;
    /* Which boundaries have a checkpoint must not depend on the speed of the disk where they are counted; elsewhere there is no
     * need to wait for the one before. */
    if (due && (by_loops || ending))
        finish_writing(env);
    else if (due && dome__ckpt_background_busy(c->background))
        due = false;
    if (due) {
        take_result(env);
        asked = 0;
        c->last = now;
        left = every > 0 ? every : CHECK_SECONDS;
        if (c->previous && !previous_is_there(c)) {
            dome__ckpt_free(c->previous);
            c->previous = NULL;
            c->full = true;
        }
        what.number = c->number;
        what.full = c->full;
    }
    what.next = next_check(env, now, left);
    return what;
}

static void end_restart(dome_env *env)
{
    dome_checkpoints *c = env->checkpoints;
    const dome_ckpt *head = dome__ckpt_head(c->from);
    for (guint i = 0; i < head->objects->len && env->transport->rank == 0; i++) {
        const dome_ckpt_object *object = dome__ckpt_object(head, i);
        if (g_hash_table_contains(c->restored, object->name))
            continue;
        char *name = dome__ckpt_shown(object->name);
        say(env, "checkpoint %" PRIu64 " has %s, which the program has not made again", head->number, name);
        g_free(name);
    }
    dome__ckpt_close(c->from);
    c->from = NULL;
    g_clear_pointer(&c->restored, g_hash_table_unref);
}

int dome__checkpoint_boundary(dome_env *env)
{
    dome_checkpoints *c = env->checkpoints;
    if (!c)
        return DOME_OK;
    c->loop++;
    if (c->from)
        end_restart(env);
    if (!c->reserved) { /* by now the program has made what it works with */
        c->reserved = true;
        dome__ckpt_background_reserve(c->background, &c->capture, own_bytes(env));
    }
    if (c->loop < c->next_check)
        return DOME_OK;
    order what = {0};
    if (env->transport->rank == 0)
        what = decide(env);
    uint64_t words[] = {what.number, what.full, what.next, what.ending};
    double begin = dome_wtime();
    int status = share(env, words, G_N_ELEMENTS(words), DOME_U64);
    c->report.consult += dome_wtime() - begin;
    if (status != DOME_OK)
        return status;
    c->next_check = words[2];
    if (words[0] > 0)
        begin_writing(env, words[0], words[1] != 0);
    if (words[3]) {
        finish_writing(env);
        if (env->transport->rank == 0) {
            write_run(c, false, NULL);
            leave_signals(true);
        }
    }
    return DOME_OK;
}

/* ---- going on from one ---- */

bool dome__checkpoint_restarting(const dome_env *env)
{
    return env->checkpoints && env->checkpoints->from;
}

static const char *distribution_name(dome_distribution distribution)
{
    static const char *const names[] = {"DOME_DYNAMIC", "DOME_BLOCK", "DOME_WHOLE"};
    return (unsigned)distribution <= DOME_WHOLE ? names[distribution] : "unknown";
}

/* What keeps an object from being the one in the checkpoint: a text, and the status. */
static char *differs(const dome_ckpt *head, const dome_ckpt_object *there, const dome_object *object,
                     const dome_object_info *here, int *status)
{
    const char *kind = dome_object_operations(object)->kind;
    uint64_t block = here->layout ? dome_layout_block_size(here->layout) : 0;
    *status = DOME_ERR_TYPE;
    if (strcmp(there->kind, kind) != 0)
        return g_strdup_printf("is a %s there, but a %s in the program", there->kind, kind);
    if (!dome__ckpt_type_fits(head, there->type, here->type))
        return g_strdup_printf("has type %s there, but %s in the program%s", dome__ckpt_type_name(head, there->type),
                               here->type ? dome_type_name(here->type) : "none",
                               here->type && strcmp(dome__ckpt_type_name(head, there->type), dome_type_name(here->type)) == 0
                                   ? " with other fields"
                                   : "");
    *status = DOME_ERR_SHAPE;
    if (there->length != here->length)
        return g_strdup_printf("has %" PRIu64 " elements there, but %" PRIu64 " in the program", there->length, here->length);
    if (there->width != here->width)
        return g_strdup_printf("has width %" PRIu64 " there, but %" PRIu64 " in the program", there->width, here->width);
    if (there->block_size != block)
        return g_strdup_printf("has blocks of %" PRIu64 " elements there, but of %" PRIu64 " in the program", there->block_size,
                               block);
    *status = DOME_ERR_LAYOUT;
    if (there->distribution != here->distribution)
        return g_strdup_printf("is %s there, but %s in the program", distribution_name(there->distribution),
                               distribution_name(here->distribution));
    *status = DOME_ERR_FORMAT;
    if (there->fixed != is_fixed(object, here))
        return g_strdup("is stored in another way there than this program stores it");
    *status = DOME_OK;
    return NULL;
}

static char *read_blocks(dome_checkpoints *c, const dome_ckpt_object *there, dome_object *object, dome_span run, int *status)
{
    char *buffer = NULL, *text = NULL;
    uint64_t room = 0;
    for (uint64_t k = 0; k < run.count && !text; k++) {
        uint64_t block = run.first + k, bytes = dome__ckpt_entry(dome__ckpt_head(c->from), there, block)->length;
        if (bytes >= room) {
            g_free(buffer);
            room = bytes + 1;
            buffer = room <= G_MAXSIZE ? g_try_malloc((gsize)room) : NULL;
        }
        *status = DOME_ERR_MEMORY;
        if (!buffer) {
            text = g_strdup_printf("no memory for block %" PRIu64, block);
        } else if (!dome__ckpt_read(c->from, there, block, buffer, &text)) {
            *status = DOME_ERR_IO;
        } else {
            *status = dome_object_read(object, block, 1, buffer, bytes);
            if (*status != DOME_OK)
                text = g_strdup_printf("block %" PRIu64 " of checkpoint '%s' cannot be taken: %s", block,
                                       dome__ckpt_path(c->from), dome_status_text(*status));
        }
    }
    g_free(buffer);
    return text;
}

/* Where an object's own blocks are, for reading: of what all tasks have, each reads everything. */
static int wanted_blocks(const dome_env *env, const dome_object_info *info, dome_span runs[2])
{
    if (info->distribution != DOME_WHOLE)
        return own_blocks(env, info, runs);
    runs[0] = (dome_span){0, info->layout ? dome_layout_blocks(info->layout) : 1};
    return runs[0].count > 0;
}

int dome__checkpoint_restore(dome_env *env, dome_object *object)
{
    dome_checkpoints *c = env->checkpoints;
    if (!c || !c->from || !dome__object_is_named(object))
        return DOME_OK;
    const dome_ckpt *head = dome__ckpt_head(c->from);
    const dome_ckpt_object *there = dome__ckpt_find(head, dome_object_name(object));
    dome_object_info info;
    int status = dome_object_describe(object, &info);
    if (status != DOME_OK)
        return dome__fail(env, status, "'%s' cannot be described", dome_object_name(object));
    if (!there)
        return dome__fail(
            env, DOME_ERR_NAME,
            "checkpoint '%s' has no '%s': the program makes it again by this name before its first loop boundary, or "
            "gives it no name if it is scratch",
            dome__ckpt_path(c->from), dome_object_name(object));
    char *text = differs(head, there, object, &info, &status);
    if (text) {
        status = dome__fail(env, status, "checkpoint '%s': '%s' %s", dome__ckpt_path(c->from), dome_object_name(object), text);
        g_free(text);
        return status;
    }
    dome_span runs[2];
    int count = wanted_blocks(env, &info, runs);
    for (int r = 0; r < count && !text; r++)
        text = read_blocks(c, there, object, runs[r], &status);
    if (!text && (status = dome_object_mark_saved(object)) != DOME_OK)
        text = g_strdup_printf("'%s' cannot be restored", dome_object_name(object));
    /* One task alone may find it. Where errors end the program, its line does. */
    if (env->errors_return)
        status = dome__agree(env, text ? status : DOME_OK, text);
    else if (text)
        status = dome__fail(env, status, "%s", text);
    g_free(text);
    if (status == DOME_OK)
        g_hash_table_add(c->restored, g_strdup(dome_object_name(object)));
    return status;
}

/* ---- the end ---- */

void dome__checkpoint_finish(dome_env *env)
{
    if (env->checkpoints && env->checkpoints->background)
        finish_writing(env);
}

void dome__checkpoint_free(dome_env *env)
{
    dome_checkpoints *c = env->checkpoints;
    if (!c)
        return;
    dome__ckpt_background_free(c->background);
    dome__ckpt_link_close(&c->link);
    dome__groups_free(&c->pieces);
    if (env->transport->rank == 0) {
        write_run(c, false, NULL);
        leave_signals(false);
    }
    dome__ckpt_close(c->from);
    if (c->restored)
        g_hash_table_unref(c->restored);
    dome__ckpt_capture_free(&c->capture);
    dome__ckpt_free(c->previous);
    if (c->in_memory && c->store)
        dome__remove_directory(c->directory);
    dome__store_close(c->store);
    g_free(c->directory);
    g_free(c->program);
    g_free(c);
    env->checkpoints = NULL;
}

bool dome__checkpoint_last(const dome_env *env, uint64_t *number, double *age)
{
    const dome_checkpoints *c = env->checkpoints;
    if (!c || env->transport->rank != 0 || !c->report.written)
        return false;
    *number = c->number - 1;
    *age = dome_wtime() - c->written_at;
    return true;
}

bool dome__checkpoint_report(const dome_env *env, dome_checkpoint_report *report)
{
    if (env->checkpoints) {
        *report = env->checkpoints->report;
        report->cost = env->checkpoints->cost;
    }
    return env->checkpoints != NULL;
}

#else

bool dome__checkpoint_newest(const char *directory, const char *program, uint64_t *number, uint64_t *loop)
{
    (void)directory, (void)program, (void)number, (void)loop;
    return false;
}

int dome__checkpoint_start(dome_env *env, const char *program)
{
    (void)program;
    if (!env->options.checkpoint_dir)
        return DOME_OK;
    return dome__fail(env, DOME_ERR_OPTION, "--dome-checkpoint-dir: this library was built without checkpoints");
}

int dome__checkpoint_boundary(dome_env *env)
{
    (void)env;
    return DOME_OK;
}

void dome__checkpoint_finish(dome_env *env)
{
    (void)env;
}

void dome__checkpoint_free(dome_env *env)
{
    (void)env;
}

int dome__checkpoint_restore(dome_env *env, dome_object *object)
{
    (void)env, (void)object;
    return DOME_OK;
}

bool dome__checkpoint_restarting(const dome_env *env)
{
    (void)env;
    return false;
}

bool dome__checkpoint_last(const dome_env *env, uint64_t *number, double *age)
{
    (void)env, (void)number, (void)age;
    return false;
}

bool dome__checkpoint_report(const dome_env *env, dome_checkpoint_report *report)
{
    (void)env, (void)report;
    return false;
}

#endif
