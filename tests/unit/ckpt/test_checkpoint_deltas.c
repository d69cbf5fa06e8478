/* Checkpoints of deltas: written together by any division among tasks, read through their chains, refused when damaged. */
#include "checkpoint_net.h"
#include "checkpoint_state.h"
#include "store/windows.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

static dome_env *env;

enum { LENGTH = 6000, SMALL = 500, TEXTS = 6, STEPS = 24 };

/* ---- a program ---- */

typedef struct program {
    double x[LENGTH];
    int16_t pairs[SMALL][3];
    uint8_t bytes[SMALL];
    int64_t steps;
    char *texts[TEXTS];
} program;

static checkpoint_state *state_of(const program *p)
{
    checkpoint_state *state = checkpoint_state_new("deltas");
    checkpoint_state_add(state, "x", DOME_F64, LENGTH, 1, 64, DOME_DYNAMIC, p->x);
    checkpoint_state_add(state, "pairs", DOME_I16, SMALL, 3, 32, DOME_DYNAMIC, p->pairs);
    checkpoint_state_add(state, "bytes", DOME_U8, SMALL, 1, 128, DOME_BLOCK, p->bytes);
    checkpoint_state_add(state, "steps", DOME_I64, 1, 1, 0, DOME_WHOLE, &p->steps);
    checkpoint_state_add_texts(state, "texts", (const char *const *)p->texts, TEXTS);
    return state;
}

static void set_text(program *p, int k, const char *text)
{
    g_free(p->texts[k]);
    p->texts[k] = g_strdup(text);
}

static program *program_new(void)
{
    program *p = g_new0(program, 1);
    for (int i = 0; i < LENGTH; i++)
        p->x[i] = i / 4.0;
    for (int i = 0; i < SMALL; i++)
        p->pairs[i][2] = p->bytes[i] = (uint8_t)i;
    for (int k = 0; k < TEXTS; k++)
        set_text(p, k, k % 2 ? "a text" : "");
    return p;
}

static void program_free(program *p)
{
    for (int k = 0; k < TEXTS; k++)
        g_free(p->texts[k]);
    g_free(p);
}

/* Changes little of it, or nothing, or much. */
static void step(program *p, GRand *random)
{
    const int count = g_rand_int_range(random, 0, 8) == 0 ? 3 * LENGTH : g_rand_int_range(random, 0, 40);
    p->steps++;
    for (int k = 0; k < count; k++)
        p->x[g_rand_int_range(random, 0, LENGTH)] = g_rand_double(random);
    for (int k = 0; k < g_rand_int_range(random, 0, 3); k++) {
        p->pairs[g_rand_int_range(random, 0, SMALL)][k] = (int16_t)g_rand_int(random);
        p->bytes[g_rand_int_range(random, 0, SMALL)]++;
    }
    if (g_rand_boolean(random))
        set_text(p, g_rand_int_range(random, 0, TEXTS), g_rand_boolean(random) ? "" : "another one, which is longer");
}

/* ---- written by tasks ---- */

typedef struct writers {
    char *directory;
    int size;
    uint64_t turn; /* the first block of task 0 */
    dome_store *store;
    dome_ckpt *previous;
    bool full, deltas;
} writers;

static writers writers_new(int size, uint64_t turn)
{
    char *message = NULL;
    writers w = {
        .directory = g_dir_make_tmp("dome-deltas.XXXXXX", NULL), .size = size, .turn = turn, .full = true, .deltas = true};
    g_assert_nonnull(w.directory);
    w.store = dome__store_open(w.directory, "deltas", &message);
    g_assert_cmpstr(message, ==, NULL);
    return w;
}

static void writers_free(writers *w)
{
    dome__ckpt_free(w->previous);
    dome__store_close(w->store);
    GDir *d = g_dir_open(w->directory, 0, NULL);
    for (const char *name; (name = g_dir_read_name(d));) {
        char *path = g_build_filename(w->directory, name, NULL);
        g_assert_cmpint(unlink(path), ==, 0);
        g_free(path);
    }
    g_dir_close(d);
    g_assert_cmpint(rmdir(w->directory), ==, 0);
    g_free(w->directory);
}

static int owner(const writers *w, uint64_t block, uint64_t blocks)
{
    return (int)((block + w->turn) % blocks * (uint64_t)w->size / blocks);
}

/* The blocks of a task that differ from those of the state before (NULL: all). */
static void copy(const writers *w, dome_ckpt_snapshot *snapshot, int rank, const checkpoint_state *state,
                 const checkpoint_state *before)
{
    for (guint i = 0; i < state->parts->len; i++) {
        const checkpoint_part *part = g_ptr_array_index(state->parts, i),
                              *old = before ? g_ptr_array_index(before->parts, i) : NULL;
        for (guint b = 0; b < part->blocks->len; b++) {
            if (owner(w, b, part->blocks->len) != rank ||
                (old && !w->full && g_bytes_equal(part->blocks->pdata[b], old->blocks->pdata[b])))
                continue;
            gsize bytes;
            const void *data = g_bytes_get_data(part->blocks->pdata[b], &bytes);
            dome_ckpt_run run = {.object = i, .first = b, .count = 1, .blocks = snapshot->blocks->len};
            char *to = dome__ckpt_snapshot_room(snapshot, bytes);
            if (bytes > 0)
                memcpy(to, data, bytes);
            const dome_ckpt_block block = {.at = bytes > 0 ? (uint64_t)(to - snapshot->buffer) : 0, .bytes = bytes};
            g_array_append_val(snapshot->blocks, block);
            g_array_append_val(snapshot->runs, run);
        }
    }
}

/* Writes a checkpoint. Returns rank 0's job, whose description has become w->previous if it was written. */
static dome_ckpt_job write_one(writers *w, const checkpoint_state *state, const checkpoint_state *before, uint64_t number)
{
    net net = {.size = w->size, .lost = -1};
    member members[TASKS];
    dome_ckpt_snapshot snapshots[TASKS];
    begin_net(&net);
    for (int r = 0; r < w->size; r++) {
        dome__ckpt_snapshot_init(&snapshots[r]);
        copy(w, &snapshots[r], r, state, before);
        members[r] = (member){&net, r, {.directory = w->directory, .snapshot = &snapshots[r], .store = w->store, .keep = 99}};
    }
    dome_ckpt *described = checkpoint_describe(state, number);
    dome_ckpt_job *job = &members[0].job;
    job->ckpt = described;
    job->previous = w->previous;
    job->full = w->full || !before;
    job->deltas = w->deltas;
    run_net(members);
    for (int r = 0; r < w->size; r++) {
        if (r > 0)
            g_free(members[r].job.message);
        dome__ckpt_snapshot_free(&snapshots[r]);
    }
    end_net(&net);
    if (job->written) {
        dome__ckpt_free(w->previous);
        w->previous = described;
        w->full = described->chain == DOME_CKPT_CHAIN_MAX;
    } else {
        dome__ckpt_free(described);
    }
    job->ckpt = NULL;
    return *job;
}

static char *path_of(const writers *w, uint64_t number)
{
    return dome__ckpt_file_path(w->directory, number, 0, 0);
}

static dome_ckpt_file *open_file(const writers *w, uint64_t number)
{
    char *message = NULL, *path = path_of(w, number);
    dome_ckpt_file *file = dome__ckpt_open(path, &message);
    g_assert_cmpstr(message, ==, NULL);
    g_free(path);
    return file;
}

static void check_file(const writers *w, uint64_t number, const checkpoint_state *state)
{
    char *message = NULL;
    dome_ckpt_file *file = open_file(w, number);
    checkpoint_check(file, state);
    dome__ckpt_verify(file, &message);
    g_assert_cmpstr(message, ==, NULL);
    dome__ckpt_close(file);
}

static void same_files(const writers *a, const writers *b, uint64_t number)
{
    const writers *of[] = {a, b};
    char *bytes[2];
    gsize lengths[2];
    for (int i = 0; i < 2; i++) {
        char *path = path_of(of[i], number);
        g_assert_true(g_file_get_contents(path, &bytes[i], &lengths[i], NULL));
        g_free(path);
    }
    g_assert_cmpmem(bytes[0], lengths[0], bytes[1], lengths[1]);
    g_free(bytes[0]);
    g_free(bytes[1]);
}

/* ---- tests ---- */

/* Any history: the same files by 1 to 4 tasks, whoever has which blocks; and each has what the state was. */
static void test_histories(void)
{
    unsigned of_deltas = 0;
    for (uint32_t seed = 1; seed <= 6; seed++) {
        GRand *random = g_rand_new_with_seed(seed);
        program *p = program_new();
        writers one = writers_new(1, 0), many = writers_new((int)(seed % 3) + 2, 7 * seed);
        checkpoint_state *states[STEPS + 1] = {NULL};
        for (uint64_t number = 1; number <= STEPS; number++) {
            states[number] = state_of(p);
            for (int i = 0; i < 2; i++) {
                const dome_ckpt_job job = write_one(i ? &many : &one, states[number], states[number - 1], number);
                g_assert_cmpstr(job.message, ==, NULL);
                g_assert_true(job.written);
                check_file(i ? &many : &one, number, states[number]);
            }
            of_deltas += one.previous->chain > 0;
            same_files(&one, &many, number);
            step(p, random);
        }
        for (uint64_t number = 1; number <= STEPS; number++) { /* the older ones are still what they were */
            check_file(&many, number, states[number]);
            checkpoint_state_free(states[number]);
        }
        writers_free(&one);
        writers_free(&many);
        program_free(p);
        g_rand_free(random);
    }
    g_assert_cmpuint(of_deltas, >, STEPS);
    g_assert_cmpuint(of_deltas, <, 6 * STEPS);
}

/* A checkpoint with a table, and two of deltas, of which the second changes two elements; and the program, as it is in the last.
 */
typedef struct saved {
    writers w;
    program *p;
    checkpoint_state *state;
} saved;

static saved three(void)
{
    saved s = {writers_new(2, 3), program_new(), NULL};
    for (uint64_t number = 1; number <= 3; number++) {
        checkpoint_state *state = state_of(s.p);
        const dome_ckpt_job job = write_one(&s.w, state, s.state, number);
        g_assert_cmpstr(job.message, ==, NULL);
        g_assert_cmpuint(s.w.previous->chain, ==, number - 1);
        if (s.state)
            checkpoint_state_free(s.state);
        s.state = state;
        if (number == 3)
            break;
        s.p->x[100 * number] = -1;
        s.p->x[5000] = (double)number;
        set_text(s.p, 2, "new");
    }
    return s;
}

static void saved_free(saved *s)
{
    writers_free(&s->w);
    program_free(s->p);
    checkpoint_state_free(s->state);
}

/* A scatter of one: some bytes, and not a block. */
static void test_one_element(void)
{
    saved s = three();
    const dome_ckpt *c = s.w.previous;
    g_assert_cmpuint(c->windows->len, ==, 1); /* both elements of x are in one window; the text is not new any more */
    g_assert_cmpuint(dome__ckpt_data_bytes(c), ==, 2 * (1 + 1 + 1 + 1 + sizeof(double)));
    g_assert_cmpuint(dome__ckpt_chain_start(c), ==, 1);
    g_assert_cmpuint(c->earlier->len, ==, 2);
    saved_free(&s);
}

/* What has changed in most places is written as it is. */
static void test_all_changes(void)
{
    saved s = three();
    for (int i = 0; i < LENGTH; i++)
        s.p->x[i] = -i - 1;
    checkpoint_state *state = state_of(s.p);
    dome_ckpt_job job = write_one(&s.w, state, s.state, 4);
    g_assert_true(job.written && job.tried_deltas && !s.w.previous->windows);
    check_file(&s.w, 4, state);
    s.w.deltas = false;
    s.p->x[1] = 1;
    checkpoint_state *next = state_of(s.p);
    job = write_one(&s.w, next, state, 5);
    g_assert_true(job.written && !job.tried_deltas && !s.w.previous->windows);
    check_file(&s.w, 5, next);
    checkpoint_state_free(state);
    checkpoint_state_free(next);
    saved_free(&s);
}

/* The chain has an end: then a checkpoint has a table again, with references to the blocks that have not changed in it. */
static void test_long_chain(void)
{
    writers w = writers_new(3, 0);
    program *p = program_new();
    checkpoint_state *before = NULL;
    for (uint64_t number = 1; number <= DOME_CKPT_CHAIN_MAX + 3; number++) {
        checkpoint_state *state = state_of(p);
        const dome_ckpt_job job = write_one(&w, state, before, number);
        g_assert_cmpstr(job.message, ==, NULL);
        g_assert_cmpuint(w.previous->chain, ==, (number - 1) % (DOME_CKPT_CHAIN_MAX + 1));
        check_file(&w, number, state);
        if (number == DOME_CKPT_CHAIN_MAX + 2) {
            g_assert_cmpuint(w.previous->earlier->len, ==, 1);
            g_assert_cmpuint(dome__ckpt_data_bytes(w.previous), ==, 64 * sizeof(double));
        }
        if (before)
            checkpoint_state_free(before);
        before = state;
        p->x[64 + number] = -1; /* all in one block */
    }
    checkpoint_state_free(before);
    program_free(p);
    writers_free(&w);
}

/* ---- damage ---- */

static void flip(const writers *w, uint64_t number, off_t at)
{
    uint8_t byte;
    char *path = path_of(w, number);
    int fd = open(path, O_RDWR);
    g_assert_cmpint(pread(fd, &byte, 1, at), ==, 1);
    byte ^= 0x10;
    g_assert_cmpint(pwrite(fd, &byte, 1, at), ==, 1);
    close(fd);
    g_free(path);
}

/* Opens and verifies the third; returns the message, which is one line. */
static char *verify(const writers *w)
{
    char *message = NULL, *path = path_of(w, 3);
    dome_ckpt_file *file = dome__ckpt_open(path, &message);
    if (file)
        dome__ckpt_verify(file, &message);
    dome__ckpt_close(file);
    g_free(path);
    g_assert_true(!message || !strchr(message, '\n'));
    return message;
}

static void fails(const writers *w, const char *words, const char *file)
{
    char *message = verify(w);
    g_assert_nonnull(message);
    if (!strstr(message, words) || !strstr(message, file))
        g_error("'%s' does not say '%s' and '%s'", message, words, file);
    g_free(message);
}

/* Each byte of the files of deltas, and of blocks that only their base has. */
static void test_every_byte(void)
{
    saved s = three();
    g_assert_null(verify(&s.w));
    for (uint64_t number = 2; number <= 3; number++) {
        char *name = g_strdup_printf("ckpt-0000000%d.dckpt", (int)number);
        dome_ckpt_file *file = open_file(&s.w, number);
        const dome_ckpt *c = dome__ckpt_head(file);
        for (uint64_t at = 0; at < c->file_bytes; at++) {
            flip(&s.w, number, (off_t)at);
            fails(&s.w, at >= c->head_bytes ? "damaged (checksum differs)" : "", name);
            flip(&s.w, number, (off_t)at);
        }
        dome__ckpt_close(file);
        g_free(name);
    }
    dome_ckpt_file *first = open_file(&s.w, 1);
    for (uint64_t at = dome__ckpt_head(first)->head_bytes; at < dome__ckpt_head(first)->file_bytes; at += 997) {
        flip(&s.w, 1, (off_t)at);
        fails(&s.w, "is damaged (checksum differs)", "ckpt-00000001.dckpt");
        flip(&s.w, 1, (off_t)at);
    }
    dome__ckpt_close(first);
    g_assert_null(verify(&s.w));
    saved_free(&s);
}

static void test_missing(void)
{
    for (uint64_t number = 1; number <= 2; number++) {
        saved s = three();
        char *path = path_of(&s.w, number), *name = g_path_get_basename(path);
        g_assert_cmpint(unlink(path), ==, 0);
        fails(&s.w, "needs an earlier one", name);
        g_free(name);
        g_free(path);
        saved_free(&s);
    }
}

/* The checkpoint before is damaged in a block that changes: the next is not written, and is told not to rely on it. */
static void test_damaged_before(void)
{
    saved s = three();
    dome_ckpt_file *first = open_file(&s.w, 1);
    const dome_ckpt_object *x = dome__ckpt_find(dome__ckpt_head(first), "x");
    flip(&s.w, 1, (off_t)dome__ckpt_entry(dome__ckpt_head(first), x, 10)->offset);
    dome__ckpt_close(first);
    s.p->x[640] = 7;
    checkpoint_state *state = state_of(s.p);
    const dome_ckpt_job job = write_one(&s.w, state, s.state, 4);
    g_assert_true(!job.written && job.previous_damaged);
    g_assert_nonnull(strstr(job.message, "object 'x', block 10"));
    g_free(job.message);
    checkpoint_state_free(state);
    saved_free(&s);
}

/* ---- heads that nobody has written ---- */

static void refused(dome_ckpt *c, guint window, dome_ckpt_window wrong, const char *words)
{
    dome_ckpt_window *w = &g_array_index(c->windows, dome_ckpt_window, window);
    const dome_ckpt_window right = *w;
    char *message = NULL;
    *w = wrong;
    void *head = dome__ckpt_encode(c);
    *w = right;
    dome_ckpt *back = dome__ckpt_decode(head, c->head_bytes, c->file_bytes, &message);
    g_assert_true(words ? !back : back && !message);
    if (words && !strstr(message, words))
        g_error("'%s' does not say '%s'", message, words);
    dome__ckpt_free(back);
    g_free(message);
    g_free(head);
}

static void test_hostile(void)
{
    saved s = three();
    dome_ckpt_file *file = open_file(&s.w, 2);
    dome_ckpt *c = dome__ckpt_take_head(file);
    g_assert_cmpuint(c->windows->len, ==, 2); /* of x, and a text */
    const dome_ckpt_window a = g_array_index(c->windows, dome_ckpt_window, 0), b = g_array_index(c->windows, dome_ckpt_window, 1);
    dome_ckpt_window wrong = a;
    refused(c, 0, a, NULL);
    wrong.object = 99;
    refused(c, 0, wrong, "window 0 makes no sense");
    wrong.object = b.object + 1;
    refused(c, 0, wrong, "window 0 makes no sense");
    wrong = a;
    wrong.window = UINT64_MAX;
    refused(c, 0, wrong, "window 0 makes no sense");
    wrong = a;
    wrong.bytes++;
    refused(c, 0, wrong, "window 1 makes no sense");
    wrong.bytes = 0;
    refused(c, 0, wrong, "window 0 makes no sense");
    wrong.bytes = a.bytes - 1;
    refused(c, 0, wrong, "bytes that belong to no block");
    refused(c, 1, a, "window 1 makes no sense");
    wrong = b;
    wrong.object = b.object;
    wrong.window = b.window + 1;
    refused(c, 1, wrong, NULL);
    dome__ckpt_free(c);
    saved_free(&s);
}

int main(int argc, char **argv)
{
    char *arguments[] = {argv[0], "--dome-transport", "self", NULL}, **init_argv = arguments;
    int init_argc = 3;
    g_test_init(&argc, &argv, NULL);
    env = dome_init(&init_argc, &init_argv);
    g_test_add_func("/deltas/histories", test_histories);
    g_test_add_func("/deltas/one_element", test_one_element);
    g_test_add_func("/deltas/all_changes", test_all_changes);
    g_test_add_func("/deltas/long_chain", test_long_chain);
    g_test_add_func("/deltas/every_byte", test_every_byte);
    g_test_add_func("/deltas/missing", test_missing);
    g_test_add_func("/deltas/damaged_before", test_damaged_before);
    g_test_add_func("/deltas/hostile", test_hostile);
    int failed = g_test_run();
    return dome_finalize(env) | failed;
}
