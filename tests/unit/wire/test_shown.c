#include "wire/shown.h"
#include "wire/shown_store.h"

#include <glib.h>

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

typedef struct fixture {
    dome_shown_past *past;
    dome_shown shown;
    GString *all;
} fixture;

static fixture begin(void)
{
    fixture f = {.past = g_new0(dome_shown_past, 1), .all = g_string_new(NULL)};
    dome__shown_begin(&f.shown, f.past, 0, false);
    return f;
}

static void end(fixture *f)
{
    dome__shown_clear(&f->shown);
    g_string_free(f->all, TRUE);
    g_free(f->past);
}

static void print(fixture *f, const char *text)
{
    GString *out = g_string_new(NULL);
    dome__shown_take(&f->shown, text, strlen(text), f->all->len, out);
    g_string_append_len(f->all, out->str, (gssize)out->len);
    g_string_free(out, TRUE);
}

static void pass(fixture *f)
{
    GString *out = g_string_new(NULL);
    dome__shown_pass(&f->shown, f->all->len, out);
    g_string_append_len(f->all, out->str, (gssize)out->len);
    g_string_free(out, TRUE);
}

static void test_again(void)
{
    fixture f = begin();
    g_assert_false(dome__shown_back(&f.shown, 0));
    print(&f, "head\nstep 1\n");
    pass(&f);
    print(&f, "step 2\npart");
    dome__shown_mark(&f.shown, 2);
    print(&f, "ly\nstep 3\nst");
    g_assert_true(dome__shown_back(&f.shown, 2));
    dome__shown_made(&f.shown);
    print(&f, "ly\nste");
    g_assert_cmpstr(f.all->str, ==, "head\nstep 1\nstep 2\npartly\nstep 3\nst");
    print(&f, "p 3\nstep 4\n");
    g_assert_cmpstr(f.all->str, ==, "head\nstep 1\nstep 2\npartly\nstep 3\nstep 4\n");
    dome__shown_back(&f.shown, 0);
    print(&f, "head\nstep 1\nstep 2\npartly\nstep 3\nstep 4\nend\n");
    g_assert_cmpstr(f.all->str, ==, "head\nstep 1\nstep 2\npartly\nstep 3\nstep 4\nend\n");
    dome__shown_end(&f.shown);
    g_assert_cmpuint(f.past->different, ==, 0);
    end(&f);
}

static void test_different(void)
{
    fixture f = begin();
    dome__shown_back(&f.shown, 0);
    print(&f, "a 1\nb 1\nc");
    dome__shown_back(&f.shown, 0);
    print(&f, "a 1\nb 2\n");
    g_assert_cmpuint(f.past->different, ==, 1);
    print(&f, "x 3\nd\n"); /* of its line a byte has been shown */
    g_assert_cmpuint(f.past->different, ==, 2);
    g_assert_cmpstr(f.all->str, ==, "a 1\nb 1\nc 3\nd\n");
    print(&f, "lon");
    dome__shown_back(&f.shown, 0);
    print(&f, "a 1\nb 1\nx 3\nd\n\ne\n"); /* a line that was begun is shorter now */
    g_assert_cmpuint(f.past->different, ==, 3);
    g_assert_cmpstr(f.all->str, ==, "a 1\nb 1\nc 3\nd\nlon\ne\n");
    dome__shown_back(&f.shown, 0);
    print(&f, "a 1\n"); /* and then ends */
    dome__shown_end(&f.shown);
    g_assert_cmpuint(f.past->different, ==, 8);
    end(&f);
}

/* What main prints in front of its loop is shown once; lines of the loop are not taken for such. */
static void test_front(void)
{
    fixture f = begin();
    dome__shown_back(&f.shown, 0);
    print(&f, "of 3 tasks\nsize 10\n.\n1\n");
    pass(&f);
    dome__shown_mark(&f.shown, 1);
    print(&f, ".\n2\n");
    dome__shown_mark(&f.shown, 2);
    const char *so_far = "of 3 tasks\nsize 10\n.\n1\n.\n2\n";
    g_assert_true(dome__shown_back(&f.shown, 2));
    print(&f, "of 4 tasks\n"); /* news */
    dome__shown_made(&f.shown);
    print(&f, "size 10\n.\n3\n");
    pass(&f);
    g_autofree char *expected = g_strconcat(so_far, "of 4 tasks\n.\n3\n", NULL);
    g_assert_cmpstr(f.all->str, ==, expected);
    g_assert_cmpuint(f.past->different, ==, 0);
    g_assert_true(dome__shown_back(&f.shown, 2)); /* asks dome_is_restarting: prints nothing there */
    dome__shown_made(&f.shown);
    print(&f, ".\n3");
    pass(&f);
    print(&f, "\n.\n4\n");
    g_autofree char *more = g_strconcat(expected, ".\n4\n", NULL);
    g_assert_cmpstr(f.all->str, ==, more);
    end(&f);
}

/* The second line that is as one in front of the first boundary: it comes behind the beginning of the loop. */
static void test_first_again(void)
{
    fixture f = begin();
    dome__shown_back(&f.shown, 0);
    print(&f, "size 10\n.\n1\n");
    pass(&f);
    dome__shown_mark(&f.shown, 1);
    g_assert_true(dome__shown_back(&f.shown, 1));
    print(&f, "size 10\n");
    dome__shown_made(&f.shown);
    pass(&f); /* an object is updated */
    print(&f, ".\n2\n");
    pass(&f); /* the boundary */
    g_assert_cmpstr(f.all->str, ==, "size 10\n.\n1\n.\n2\n");
    g_assert_cmpuint(f.past->different, ==, 0);
    end(&f);
}

/* A run that begins with a checkpoint of another one shows all that it prints. */
static void test_other_run(void)
{
    fixture f = begin();
    g_assert_false(dome__shown_back(&f.shown, 70));
    print(&f, "head\nstep 71\n");
    g_assert_false(dome__shown_back(&f.shown, 70));
    print(&f, "head\nstep 71\nstep 72\n");
    g_assert_cmpstr(f.all->str, ==, "head\nstep 71\nstep 72\n");
    g_assert_cmpuint(f.past->different, ==, 0);
    end(&f);
}

static void test_rewind(void)
{
    fixture f = begin();
    dome__shown_back(&f.shown, 0);
    print(&f, "one\ntwo\nthr");
    dome__shown_rewind(f.past, 11, true);
    g_assert_cmpuint(f.past->end.line, ==, 2);
    g_assert_cmpuint(f.past->end.column, ==, 3);
    dome__shown_rewind(f.past, 6, true);
    g_assert_cmpuint(f.past->end.line, ==, 1);
    g_assert_cmpuint(f.past->end.column, ==, 2);
    g_string_truncate(f.all, 6);
    dome__shown_back(&f.shown, 0);
    print(&f, "one\ntwo\nthree\n");
    g_assert_cmpstr(f.all->str, ==, "one\ntwo\nthree\n");
    g_assert_cmpuint(f.past->different, ==, 0);
    dome__shown_rewind(f.past, 9, false);
    g_assert_cmpuint(f.past->end.line, ==, 2);
    g_assert_cmpuint(f.past->end.column, ==, 0);
    end(&f);
}

/* More lines than are remembered. */
static void test_many(void)
{
    fixture f = begin();
    enum { LINES = DOME_SHOWN_LINES + 1000 };
    GString *all = g_string_new(NULL);
    for (int k = 0; k < LINES; k++)
        g_string_append_printf(all, "%d\n", k);
    dome__shown_back(&f.shown, 0);
    print(&f, all->str);
    dome__shown_back(&f.shown, 0);
    g_string_append(all, "end\n");
    print(&f, all->str);
    g_assert_cmpstr(f.all->str, ==, all->str);
    g_assert_cmpuint(f.past->different, ==, 0);
    g_string_free(all, TRUE);
    end(&f);
}

/* A program of some boundaries, and what it prints behind each: random lines, and parts of lines. */
enum { BOUNDARIES = 12 };

static void lines_of(GString *to, GRand *draw, int boundary)
{
    const int n = g_rand_int_range(draw, 0, 5);
    for (int k = 0; k < n; k++)
        if (g_rand_int_range(draw, 0, 3) == 0)
            g_string_append(to, ".");
        else
            g_string_append_printf(to, "%d of %d\n", k, boundary);
}

typedef struct program {
    const char *text[BOUNDARIES + 1];
    size_t length[BOUNDARIES + 1];
} program;

/* Runs from a boundary until it has printed so much; the hub gets pieces. Returns the last mark. */
static int run(fixture *f, GRand *draw, const program *p, int from, size_t until, bool killed, int last)
{
    size_t done = 0;
    dome__shown_back(&f->shown, (uint64_t)from);
    dome__shown_made(&f->shown);
    for (int b = from; b <= BOUNDARIES; b++) {
        for (size_t at = 0; at < p->length[b];) {
            size_t n = MIN((size_t)g_rand_int_range(draw, 1, 9), p->length[b] - at);
            if (killed && done + n > until)
                n = until - done;
            g_autofree char *piece = g_strndup(p->text[b] + at, n);
            print(f, piece);
            at += n;
            done += n;
            if (killed && done >= until)
                return last;
        }
        if (b == from)
            pass(f);
        if (b < BOUNDARIES && g_rand_int_range(draw, 0, 3) == 0) {
            last = b + 1;
            dome__shown_mark(&f->shown, (uint64_t)last);
        }
    }
    return last;
}

static void test_histories(void)
{
    for (guint32 seed = 0; seed < 400; seed++) {
        GRand *draw = g_rand_new_with_seed(seed);
        fixture f = begin();
        GString *parts[BOUNDARIES + 1], *all = g_string_new(NULL);
        program p;
        for (int b = 0; b <= BOUNDARIES; b++) {
            parts[b] = g_string_new(NULL);
            lines_of(parts[b], draw, b);
            g_string_append(all, parts[b]->str);
            p.text[b] = parts[b]->str;
            p.length[b] = parts[b]->len;
        }
        int last = 0;
        for (int k = 0; k < 6; k++)
            last = run(&f, draw, &p, last, (size_t)g_rand_int_range(draw, 0, 60), true, last);
        run(&f, draw, &p, last, 0, false, last);
        dome__shown_end(&f.shown);
        g_assert_cmpstr(f.all->str, ==, all->str);
        g_assert_cmpuint(f.past->different, ==, 0);
        for (int b = 0; b <= BOUNDARIES; b++)
            g_string_free(parts[b], TRUE);
        g_string_free(all, TRUE);
        end(&f);
        g_rand_free(draw);
    }
}

static void test_store(void)
{
    const int fd = dome__shown_file();
    g_assert_cmpint(fd, >=, 0);
    dome_shown_store *store = dome__shown_store_open(fd), *other = dome__shown_store_open(fd);
    g_assert_cmpint(dome__shown_ranks(store), ==, 0);
    g_assert_null(dome__shown_differing(store));
    dome__shown_past_of(store, 2)->different = 3;
    dome__shown_stream_of(store)->since = 77;
    g_assert_cmpint(dome__shown_ranks(other), ==, 3);
    g_assert_cmpuint(dome__shown_past_of(other, 2)->different, ==, 3);
    g_assert_cmpuint(dome__shown_stream_of(other)->since, ==, 77);
    g_autofree char *line = dome__shown_differing(other);
    g_assert_true(g_str_has_prefix(line, "3 lines that the program printed again"));
    dome__shown_store_close(store);
    dome__shown_store_close(other);
    close(fd);
}

/* Reads all that is in the pipe. */
static void drain(int fd, GString *all)
{
    char part[4096];
    for (ssize_t n; (n = read(fd, part, sizeof part)) > 0;)
        g_string_append_len(all, part, n);
}

static uint64_t written_by_another(int file)
{
    dome_shown_store *store = dome__shown_store_open(file);
    const uint64_t written = dome__shown_written(dome__shown_writer_of(store));
    dome__shown_store_close(store);
    return written;
}

static void test_stream(void)
{
    int pipe_of[2];
    const int file = dome__shown_file();
    g_assert_cmpint(pipe2(pipe_of, O_NONBLOCK), ==, 0);
    dome_shown_store *store = dome__shown_store_open(file);
    GString *wanted = g_string_new(NULL), *all = g_string_new(NULL);
    const size_t lengths[] = {1, 5, 4095, 4096, 1, 4096, 4096, 100};
    for (guint k = 0; k < 9000; k++) { /* more than the pages of the file */
        g_autofree char *text = g_strnfill(lengths[k % G_N_ELEMENTS(lengths)], (char)('a' + k % 26));
        const size_t length = strlen(text);
        g_assert_cmpint(dome__shown_write(dome__shown_writer_of(store), pipe_of[1], text, length), ==, (gssize)length);
        g_string_append(wanted, text);
        g_assert_cmpuint(written_by_another(file), ==, wanted->len);
        if (k % 5 == 0)
            drain(pipe_of[0], all);
    }
    drain(pipe_of[0], all);
    g_assert_cmpstr(all->str, ==, wanted->str);
    while (dome__shown_write(dome__shown_writer_of(store), pipe_of[1], "full", 4) == 4)
        g_string_append(wanted, "full");
    g_assert_cmpint(errno, ==, EAGAIN);
    g_assert_cmpuint(written_by_another(file), ==, wanted->len);
    g_assert_true(dome__shown_set_written(dome__shown_writer_of(store), 12345));
    g_assert_cmpuint(written_by_another(file), ==, 12345);
    g_string_free(wanted, TRUE);
    g_string_free(all, TRUE);
    dome__shown_store_close(store);
    close(pipe_of[0]);
    close(pipe_of[1]);
    close(file);
}

/* A file that is appended to: sendfile does not write it. */
static void test_appended(void)
{
    g_autofree char *name = NULL;
    const int made = g_file_open_tmp("dome-test.XXXXXX", &name, NULL), file = dome__shown_file();
    const int out = open(name, O_WRONLY | O_APPEND);
    dome_shown_store *store = dome__shown_store_open(file);
    for (int k = 0; k < 10; k++)
        g_assert_cmpint(dome__shown_write(dome__shown_writer_of(store), out, "line\n", 5), ==, 5);
    g_assert_cmpuint(written_by_another(file), ==, 50);
    g_assert_cmpint(lseek(made, 0, SEEK_END), ==, 50);
    dome__shown_store_close(store);
    unlink(name);
    close(out);
    close(made);
    close(file);
}

/* A writer that is killed at any moment: what another then finds to be written is what was. */
static void test_killed(void)
{
    GRand *draw = g_rand_new_with_seed(7);
    for (int k = 0; k < 40; k++) {
        int pipe_of[2];
        const int file = dome__shown_file();
        g_assert_cmpint(pipe2(pipe_of, 0), ==, 0);
        const pid_t pid = fork();
        if (pid == 0) {
            dome_shown_store *store = dome__shown_store_open(file);
            while (dome__shown_write(dome__shown_writer_of(store), pipe_of[1], "0123456", 7) > 0)
                ;
            _exit(1);
        }
        g_assert_cmpint(pid, >, 0);
        close(pipe_of[1]);
        char part[512];
        uint64_t read_so_far = 0;
        const gint32 until = g_rand_int_range(draw, 1, 3000);
        for (ssize_t n; (n = read(pipe_of[0], part, sizeof part)) > 0; read_so_far += (uint64_t)n)
            if (read_so_far < (uint64_t)until && read_so_far + (uint64_t)n >= (uint64_t)until)
                kill(pid, SIGKILL);
        g_assert_cmpint(waitpid(pid, NULL, 0), ==, pid);
        g_assert_cmpuint(written_by_another(file), ==, read_so_far);
        close(pipe_of[0]);
        close(file);
    }
    g_rand_free(draw);
}

/* A program that is told of losses prints other lines after them: none is left out. */
static void test_told(void)
{
    fixture f = begin();
    f.shown.told = true;
    dome__shown_back(&f.shown, 0);
    print(&f, "head\nstep 1\n");
    pass(&f);
    dome__shown_mark(&f.shown, 1);
    print(&f, "step 2\nstep 3\nstep 4\nst");
    dome__shown_back(&f.shown, 1);
    dome__shown_made(&f.shown);
    pass(&f);
    print(&f, "ste");
    print(&f, "p 2\nlost 3");
    g_assert_cmpstr(f.all->str, ==, "head\nstep 1\nstep 2\nstep 3\nstep 4\nst");
    print(&f, "-7\nstep 3\n"); /* other than what was shown in its place */
    g_assert_cmpstr(f.all->str, ==, "head\nstep 1\nstep 2\nstep 3\nstep 4\nst\nlost 3-7\nstep 3\n");
    end(&f);
}

/* The same, where a line had been begun. */
static void test_told_part(void)
{
    fixture f = begin();
    f.shown.told = true;
    dome__shown_back(&f.shown, 0);
    print(&f, "a\n");
    pass(&f);
    dome__shown_mark(&f.shown, 1);
    print(&f, "bcd");
    dome__shown_back(&f.shown, 1);
    dome__shown_made(&f.shown);
    pass(&f);
    print(&f, "b");
    dome__shown_mark(&f.shown, 2);
    print(&f, "cde\nf\n");
    g_assert_cmpstr(f.all->str, ==, "a\nbcde\nf\n");
    dome__shown_back(&f.shown, 2);
    dome__shown_made(&f.shown);
    pass(&f);
    print(&f, "cde\nf\ng");
    g_assert_cmpstr(f.all->str, ==, "a\nbcde\nf\ng");
    dome__shown_back(&f.shown, 1);
    dome__shown_made(&f.shown);
    pass(&f);
    print(&f, "bcde\nf\nhi\n");
    g_assert_cmpstr(f.all->str, ==, "a\nbcde\nf\ng\nhi\n");
    g_assert_cmpuint(f.past->different, ==, 0);
    end(&f);
}

/* The stream has text before the program's own: the program's first line does not begin with it. */
static void test_rewind_to_begin(void)
{
    fixture f = begin();
    g_string_append(f.all, "before\n");
    dome__shown_clear(&f.shown);
    *f.past = (dome_shown_past){0};
    dome__shown_begin(&f.shown, f.past, f.all->len, false);
    dome__shown_back(&f.shown, 0);
    print(&f, "one\ntwo\n");
    dome__shown_rewind(f.past, 7, true);
    g_assert_cmpuint(f.past->end.line, ==, 0);
    g_assert_cmpuint(f.past->end.column, ==, 0);
    end(&f);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/shown/again", test_again);
    g_test_add_func("/shown/different", test_different);
    g_test_add_func("/shown/front", test_front);
    g_test_add_func("/shown/first again", test_first_again);
    g_test_add_func("/shown/other run", test_other_run);
    g_test_add_func("/shown/rewind", test_rewind);
    g_test_add_func("/shown/rewind to begin", test_rewind_to_begin);
    g_test_add_func("/shown/told", test_told);
    g_test_add_func("/shown/told, part", test_told_part);
    g_test_add_func("/shown/many", test_many);
    g_test_add_func("/shown/histories", test_histories);
    g_test_add_func("/shown/store", test_store);
    g_test_add_func("/shown/stream", test_stream);
    g_test_add_func("/shown/appended", test_appended);
    g_test_add_func("/shown/killed", test_killed);
    return g_test_run();
}
