#include "supervision/report.h"

#include "transport/door.h"

#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static dome_report *example(void)
{
    static const char *const command[] = {"/path/to a/prog", "--name=x;y", "[task 9]\nrank=3", "\xff", NULL};
    dome_report *r = dome__report_new();
    r->pid = (int)getpid();
    r->command = g_strdupv((char **)command);
    r->directory = g_strdup("/a\tb");
    r->machine = g_strdup("private");
    r->seconds = 12.5;
    r->checkpoint = 17;
    r->checkpoint_seconds = 0.25;
    r->views_left_out = 3;
    for (uint32_t k = 0; k < 5; k++) {
        const dome_view_note v = {.number = 2 * k,
                                  .tasks = 3,
                                  .hosts = 2,
                                  .at = 1.5 * k,
                                  .kind = g_strdup("heal"),
                                  .why = g_strdup("task 1\n[end] = lost;"),
                                  .timed = k % 2 == 0,
                                  .parts = {0.5, 0.25, 0.125, 2, 4}};
        g_ptr_array_add(r->views, g_memdup2(&v, sizeof v));
    }
    for (int rank = 0; rank < 300; rank++) {
        dome_report_task *t = g_new0(dome_report_task, 1);
        t->rank = rank;
        t->pid = 1000 + rank;
        t->host = g_strdup_printf("h%d", rank);
        t->operation = g_strdup("dvec_sum");
        t->object = g_strdup("x = 'y'\n[end]\n");
        t->waiting = rank % 2;
        t->sequence = (uint64_t)1 << 60;
        t->busy = 1.5;
        t->load = rank ? 0.25 : -1;
        t->silent = 3;
        g_ptr_array_add(r->tasks, t);
    }
    return r;
}

static void test_round_trip(void)
{
    dome_report *r = example();
    char *text = dome__report_text(r);
    dome_report *s = dome__report_parse(text);
    g_assert_nonnull(s);
    g_assert_cmpint(s->pid, ==, r->pid);
    g_assert_cmpuint(g_strv_length(s->command), ==, 4);
    for (int i = 0; i < 3; i++)
        g_assert_cmpstr(s->command[i], ==, r->command[i]);
    g_assert_cmpstr(s->directory, ==, r->directory);
    g_assert_cmpint(s->checkpoint, ==, 17);
    g_assert_cmpfloat(s->seconds, ==, 12.5);
    g_assert_cmpuint(s->views_left_out, ==, 3);
    g_assert_cmpuint(s->views->len, ==, 5);
    for (guint k = 0; k < 5; k++) {
        const dome_view_note *a = r->views->pdata[k], *b = s->views->pdata[k];
        g_assert_cmpuint(b->number, ==, a->number);
        g_assert_cmpint(b->hosts, ==, 2);
        g_assert_cmpstr(b->why, ==, a->why);
        g_assert_true(a->timed == b->timed);
        g_assert_cmpfloat(b->parts.noticing, ==, 0.5);
        g_assert_cmpfloat(dome__view_note_still(b), ==, a->timed ? 6.875 : -1);
    }
    g_assert_cmpuint(s->tasks->len, ==, r->tasks->len);
    for (guint i = 0; i < s->tasks->len; i++) {
        const dome_report_task *a = r->tasks->pdata[i], *b = s->tasks->pdata[i];
        g_assert_cmpint(a->rank, ==, b->rank);
        g_assert_cmpint(a->pid, ==, b->pid);
        g_assert_cmpstr(a->host, ==, b->host);
        g_assert_cmpstr(a->object, ==, b->object);
        g_assert_cmpint(a->waiting, ==, b->waiting);
        g_assert_cmpuint(a->sequence, ==, b->sequence);
        g_assert_cmpfloat(a->busy, ==, b->busy);
        g_assert_cmpfloat(a->load, ==, b->load);
    }
    dome__report_free(s);

    /* The hub may not be able to send all of it: an incomplete text is refused. */
    size_t length = strlen(text);
    for (size_t cut = 0; cut + 12 < length; cut += length / 40) {
        char *part = g_strndup(text, cut);
        g_assert_null(dome__report_parse(part));
        g_free(part);
    }
    g_free(text);
    dome__report_free(r);
    g_assert_null(dome__report_parse("something else"));
}

static char *text_of(void *ctx)
{
    return dome__report_text(ctx);
}

static bool answered(const char *text)
{
    GPtrArray *texts = dome__report_ask_all();
    bool found = false;
    for (guint i = 0; i < texts->len; i++)
        found |= strcmp(texts->pdata[i], text) == 0;
    g_ptr_array_unref(texts);
    return found;
}

/* A process asks another. It does not wait long for one that does not answer, and leaves nothing behind. */
static void test_asking(void)
{
    dome_report *r = example();
    int fd = dome__door_listen(DOME_DOOR_REPORT);
    g_assert_cmpint(fd, >=, 0);
    char *text = dome__report_text(r);
    pid_t pid = fork();
    if (pid == 0) {
        bool heard = answered(text);
        g_free(text); /* for tools that look for lost memory */
        dome__report_free(r);
        _exit(heard ? 0 : 1);
    }
    int status;
    while (waitpid(pid, &status, WNOHANG) == 0) {
        dome__report_answer(fd, text_of, r);
        g_usleep(1000);
    }
    g_assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    g_assert_false(answered(text)); /* nobody answers */
    close(fd);
    g_assert_false(answered(text)); /* nobody is there */
    g_free(text);
    dome__report_free(r);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/report/round-trip", test_round_trip);
    g_test_add_func("/report/asking", test_asking);
    return g_test_run();
}
