/* Discontinuous incremental checkpoints: each directive in each state (Ha's table 3.2), the program of figure 3.4, the example of
 * section 5.2.4, memory at odd places, files that are damaged or of other memory. */
#include <dome/delta.h>

#include <glib.h>
#include <glib/gstdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { N = 5000 };

static struct {
    char before[100]; /* in the first page of x, but none of it */
    double x[N];
    int before_flag, flag[2];
} memory;

static char *folder;

static const char *in_folder(const char *name)
{
    static char *names[4];
    static unsigned k;
    k = (k + 1) % 4;
    g_free(names[k]);
    return names[k] = g_build_filename(folder, name, NULL);
}

static void works(int result)
{
    if (result != 0)
        g_error("%s", dome_delta_error());
}

static void fails(int result, const char *text)
{
    g_assert_cmpint(result, ==, -1);
    if (!strstr(dome_delta_error(), text))
        g_error("'%s' is not in '%s'", text, dome_delta_error());
}

static size_t size_of(const char *name)
{
    GStatBuf st;
    g_assert_cmpint(g_stat(in_folder(name), &st), ==, 0);
    return (size_t)st.st_size;
}

static void clear(void)
{
    works(dome_delta_stop());
    memset(&memory, 0, sizeof memory);
}

/* A start clears; saves hold what changed since; a stop discards. */
static void test_checkpointing(void)
{
    clear();
    works(dome_delta_stop()); /* inactive: nothing */
    fails(dome_delta_save(in_folder("a")), "dome_delta_start comes first");
    memory.x[1] = 1; /* in no file */
    works(dome_delta_start());
    memory.x[2] = 2;
    works(dome_delta_start()); /* active: x[2] is lost */
    memory.x[3] = 3;
    memory.before[50] = 4;
    works(dome_delta_save(in_folder("a")));
    memory.x[4] = 4;
    works(dome_delta_save(in_folder("b"))); /* another name: only what is new */
    memory.x[5] = 5;
    works(dome_delta_stop()); /* x[5] is lost */
    fails(dome_delta_save(in_folder("c")), "dome_delta_start comes first");
    memset(&memory, 0, sizeof memory);
    memory.x[1] = memory.x[2] = memory.x[5] = 7;
    works(dome_delta_inject(in_folder("b")));
    g_assert_true(memory.x[3] == 0 && memory.x[4] == 4);
    works(dome_delta_inject(in_folder("a")));
    g_assert_true(memory.x[1] == 7 && memory.x[2] == 7 && memory.x[3] == 3 && memory.x[4] == 4 && memory.x[5] == 7);
    g_assert_cmpint(memory.before[50], ==, 0);
}

/* Each start injects the next file; a stop is ignored; a save is an error; after the last file all is as before. */
static void test_recovering(void)
{
    clear();
    for (int k = 0; k < 2; k++) {
        works(dome_delta_start());
        memory.x[10 + k] = k + 1;
        works(dome_delta_save(in_folder(k ? "second" : "first")));
        works(dome_delta_stop());
    }
    memset(&memory, 0, sizeof memory);
    fails(dome_delta_recover(NULL, 0), "no file");
    works(dome_delta_recover((const char *[]){in_folder("first"), in_folder("second")}, 2));
    fails(dome_delta_save(in_folder("c")), "first");
    works(dome_delta_start());
    g_assert_true(memory.x[10] == 1 && memory.x[11] == 0);
    memory.x[12] = 9; /* computed again; not tracked */
    fails(dome_delta_save(in_folder("c")), "second");
    works(dome_delta_stop());
    works(dome_delta_start());
    g_assert_true(memory.x[10] == 1 && memory.x[11] == 2);
    memory.x[13] = 10;
    works(dome_delta_save(in_folder("third")));
    works(dome_delta_stop());
    memset(&memory, 0, sizeof memory);
    works(dome_delta_inject(in_folder("third")));
    g_assert_true(memory.x[10] == 0 && memory.x[11] == 0 && memory.x[12] == 0 && memory.x[13] == 10);
    works(dome_delta_recover((const char *[]){in_folder("missing")}, 1));
    fails(dome_delta_start(), "missing");
    works(dome_delta_recover((const char *[]){in_folder("third")}, 1));
    works(dome_delta_start());
    works(dome_delta_stop());
}

/* A, start B1 save B2 save stop, C, start D save stop: two files; the first has both of B. */
static void test_figure_3_4(void)
{
    clear();
    memory.x[0] = 1;
    works(dome_delta_start());
    memory.x[1] = 1;
    memory.x[2] = 1;
    works(dome_delta_save(in_folder("one")));
    memory.x[2] = 2;
    memory.x[3] = 2;
    works(dome_delta_save(in_folder("one")));
    works(dome_delta_stop());
    memory.x[4] = 3;
    works(dome_delta_start());
    memory.x[5] = 4;
    works(dome_delta_save(in_folder("two")));
    works(dome_delta_stop());
    memset(&memory, 0, sizeof memory);
    works(dome_delta_inject(in_folder("one")));
    g_assert_true(memory.x[0] == 0 && memory.x[1] == 1 && memory.x[2] == 2 && memory.x[3] == 2 && memory.x[4] == 0);
    works(dome_delta_inject(in_folder("two")));
    g_assert_true(memory.x[4] == 0 && memory.x[5] == 4);
    fails(dome_delta_merge(in_folder("one"), in_folder("two")), "different starts");
}

/* A process made by fork is tracked from its own start on. Its exit status is that of `work`. */
static void in_a_child(void (*work)(void))
{
    const pid_t child = fork();
    int status;
    g_assert_cmpint(child, >=, 0);
    if (child == 0) {
        work();
        _exit(0);
    }
    g_assert_cmpint(waitpid(child, &status, 0), ==, child);
    g_assert_cmpint(status, ==, 0);
}

static void first_half(void)
{
    works(dome_delta_start());
    for (int i = 0; i < N / 2; i++)
        memory.x[i] = i + 1;
    works(dome_delta_save(in_folder("left")));
}

static void second_half(void)
{
    works(dome_delta_start());
    for (int i = N / 2 - 1; i < N; i++)
        memory.x[i] = -i;
    works(dome_delta_save(in_folder("right")));
}

/* As CAPE's workers: each computes a part, the parts are merged, all get the whole. Where both have a value, the second one's
 * stays. */
static void test_merge(void)
{
    clear();
    works(dome_delta_start()); /* of this process; the children's are the same one more */
    in_a_child(first_half);
    in_a_child(second_half);
    works(dome_delta_merge(in_folder("left"), in_folder("right")));
    works(dome_delta_inject(in_folder("left")));
    for (int i = 0; i < N; i++)
        g_assert_true(memory.x[i] == (i < N / 2 - 1 ? i + 1 : -i));
    works(dome_delta_save(in_folder("whole"))); /* what is injected has changed */
    memset(&memory, 0, sizeof memory);
    works(dome_delta_inject(in_folder("whole")));
    g_assert_true(memory.x[0] == 1 && memory.x[N - 1] == 1 - N);
}

/* x is 0 everywhere. A stores 1 and flushes; B, which has not seen it, stores 0 and flushes: x must be 0. */
static void store_one(void)
{
    works(dome_delta_start());
    memory.flag[0] = 1;
    works(dome_delta_save(in_folder("a")));
}

static void store_zero(void)
{
    works(dome_delta_start());
    *(volatile int *)&memory.flag[0] = 0;
    works(dome_delta_save(in_folder("compared")));
    *(volatile int *)&memory.flag[0] = 0;
    works(dome_delta_wrote(&memory.flag[0], sizeof memory.flag[0]));
    works(dome_delta_save(in_folder("told")));
}

static void test_section_5_2_4(void)
{
    clear();
    in_a_child(store_one);
    in_a_child(store_zero);
    works(dome_delta_inject(in_folder("a")));
    works(dome_delta_inject(in_folder("compared")));
    g_assert_cmpint(memory.flag[0], ==, 1); /* a comparison takes B's store for none */
    works(dome_delta_inject(in_folder("told")));
    g_assert_cmpint(memory.flag[0], ==, 0);
    memory.flag[0] = memory.flag[1] = 5;
    works(dome_delta_inject(in_folder("told")));
    g_assert_true(memory.flag[0] == 0 && memory.flag[1] == 5);
    fails(dome_delta_wrote(&memory.flag[0], 4), "dome_delta_start");
    works(dome_delta_start());
    fails(dome_delta_wrote(&memory.flag[0], 4 * sizeof(int)), "not tracked");
}

/* The same by selective flushes, of x alone: what else has changed is in none of them, and in the next global one. */
static void flush_one(void)
{
    works(dome_delta_start());
    memory.flag[0] = memory.x[7] = memory.x[600] = 1;
    works(dome_delta_save_of(in_folder("a"), &memory.flag[0], sizeof(int)));
    works(dome_delta_save_of(in_folder("a x"), &memory.x[7], 8 * sizeof(double)));
    memory.x[9] = 2;
    works(dome_delta_save(in_folder("a all")));
}

static void flush_zero(void)
{
    works(dome_delta_start());
    works(dome_delta_wrote(memory.flag, 2 * sizeof(int)));
    works(dome_delta_save_of(in_folder("b"), &memory.flag[0], sizeof(int)));
    works(dome_delta_save_of(in_folder("b again"), &memory.flag[0], sizeof(int)));
    works(dome_delta_save(in_folder("b all")));
}

static void test_selective(void)
{
    clear();
    in_a_child(flush_one);
    in_a_child(flush_zero);
    works(dome_delta_inject(in_folder("a")));
    g_assert_true(memory.flag[0] == 1 && memory.x[7] == 0 && memory.x[600] == 0);
    works(dome_delta_merge(in_folder("a"), in_folder("b"))); /* the home's list of updates */
    memory.flag[1] = 3;
    works(dome_delta_inject(in_folder("a")));
    g_assert_true(memory.flag[0] == 0 && memory.flag[1] == 3);
    memory.flag[0] = 4;
    works(dome_delta_inject(in_folder("b again"))); /* nothing is told twice */
    g_assert_cmpint(memory.flag[0], ==, 4);
    works(dome_delta_inject(in_folder("b all")));
    g_assert_true(memory.flag[0] == 4 && memory.flag[1] == 0);
    works(dome_delta_inject(in_folder("a x")));
    g_assert_true(memory.x[7] == 1 && memory.x[9] == 0 && memory.x[600] == 0);
    memory.x[7] = 0;
    works(dome_delta_inject_of(in_folder("a all"), &memory.x[600], sizeof(double)));
    g_assert_true(memory.x[7] == 0 && memory.x[9] == 0 && memory.x[600] == 1);
    works(dome_delta_inject(in_folder("a all")));
    g_assert_true(memory.x[7] == 0 && memory.x[9] == 2);
    fails(dome_delta_inject_of(in_folder("a"), &memory.flag[1], 2 * sizeof(int)), "in no memory");
    works(dome_delta_start());
    fails(dome_delta_save_of(in_folder("a"), (char *)memory.x + 4, 8), "no multiples");
    fails(dome_delta_save_of(in_folder("a"), NULL, 8), "in no memory");
}

/* What selective saves and a whole one have, in any order, is what one whole save has. */
static void test_selective_at_random(void)
{
    GRand *r = g_rand_new_with_seed(524);
    double *then = g_new(double, N);
    for (int round = 0; round < 4; round++) {
        clear();
        works(dome_delta_start());
        works(dome_delta_save(in_folder("none")));
        for (int k = 0; k < 15; k++) {
            const int first = g_rand_int_range(r, 0, N), last = g_rand_int_range(r, first, N) + 1;
            for (int i = 0; i < 30; i++)
                memory.x[g_rand_int_range(r, 0, N)] = g_rand_int_range(r, 0, 3);
            if (k % 3 == 0)
                works(dome_delta_wrote(&memory.x[first], (size_t)(last - first) * sizeof(double)));
            works(k % 7 ? dome_delta_save_of(in_folder("sum"), &memory.x[first], (size_t)(last - first) * sizeof(double))
                        : dome_delta_save(in_folder("sum")));
        }
        works(dome_delta_save(in_folder("sum")));
        memcpy(then, memory.x, sizeof memory.x);
        clear();
        works(dome_delta_inject(in_folder("sum")));
        g_assert_true(memcmp(then, memory.x, sizeof memory.x) == 0);
    }
    g_free(then);
    g_rand_free(r);
}

/* A file has what changed, not the memory. */
static void test_sizes(void)
{
    clear();
    works(dome_delta_start());
    works(dome_delta_save(in_folder("nothing")));
    memory.x[0] = memory.x[N - 1] = 1;
    works(dome_delta_save(in_folder("two numbers")));
    g_assert_cmpuint(size_of("two numbers") - size_of("nothing"), <=, 2 * (8 + 4));
    for (int i = 0; i < N; i++)
        memory.x[i] = i + 2;
    works(dome_delta_save(in_folder("all")));
    g_assert_cmpuint(size_of("all"), >=, N * 8);
    g_assert_cmpuint(size_of("all"), <=, N * 8 + N / 64 * 16 + 200);
}

static void test_damaged(void)
{
    clear();
    works(dome_delta_start());
    memory.x[77] = 1;
    works(dome_delta_save(in_folder("good")));
    works(dome_delta_stop());
    memory.x[77] = 0;
    char *text;
    gsize length;
    g_assert_true(g_file_get_contents(in_folder("good"), &text, &length, NULL));
    for (gsize k = 0; k < length; k++) {
        text[k] ^= 0x10;
        g_assert_true(g_file_set_contents(in_folder("bad"), text, (gssize)length, NULL));
        fails(dome_delta_inject(in_folder("bad")), "bad");
        text[k] ^= 0x10;
        g_assert_true(g_file_set_contents(in_folder("bad"), text, (gssize)k, NULL));
        fails(dome_delta_inject(in_folder("bad")), "bad");
    }
    g_free(text);
    g_assert_true(memory.x[77] == 0);
    fails(dome_delta_merge(in_folder("good"), in_folder("bad")), "bad");
    works(dome_delta_inject(in_folder("good")));
    g_assert_true(memory.x[77] == 1);
}

static void other_memory(void)
{
    works(dome_delta_memory(memory.flag, sizeof memory.flag, 1));
    fails(dome_delta_inject(in_folder("good")), "of other memory");
}

static void test_wrong(void)
{
    clear();
    fails(dome_delta_memory(memory.x, sizeof memory.x, 3), "3 bytes");
    fails(dome_delta_memory((char *)memory.x + 1, 8, 8), "multiple");
    fails(dome_delta_memory(memory.x, 0, 8), "empty");
    works(dome_delta_start());
    fails(dome_delta_memory(memory.x, 8, 8), "already");
    fails(dome_delta_save(in_folder("no/folder")), "folder");
    works(dome_delta_stop());
    in_a_child(other_memory);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    folder = g_dir_make_tmp("dome-changes-XXXXXX", NULL);
    g_assert_nonnull(folder);
    fails(dome_delta_start(), "dome_delta_memory comes first");
    works(dome_delta_memory(memory.x, sizeof memory.x, 8));
    works(dome_delta_memory(memory.flag, sizeof memory.flag, 4));
    g_test_add_func("/changes/checkpointing", test_checkpointing);
    g_test_add_func("/changes/recovering", test_recovering);
    g_test_add_func("/changes/figure_3_4", test_figure_3_4);
    g_test_add_func("/changes/merge", test_merge);
    g_test_add_func("/changes/section_5_2_4", test_section_5_2_4);
    g_test_add_func("/changes/selective", test_selective);
    g_test_add_func("/changes/selective_at_random", test_selective_at_random);
    g_test_add_func("/changes/sizes", test_sizes);
    g_test_add_func("/changes/damaged", test_damaged);
    g_test_add_func("/changes/wrong", test_wrong);
    const int status = g_test_run();
    works(dome_delta_stop());
    GDir *dir = g_dir_open(folder, 0, NULL);
    for (const char *name; dir && (name = g_dir_read_name(dir));)
        g_unlink(in_folder(name));
    g_dir_close(dir);
    g_rmdir(folder);
    g_free(folder);
    return status;
}
