#include "wire/shown.h"
#include "wire/shown_copy.h"
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
    dome_shown_store *store; /* NULL: none */
    int output;              /* with a store: the file that has `all`, but for what still waits, */
    size_t written;          /* behind so many bytes */
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

static void take(fixture *f, GString *out)
{
    if (f->store)
        dome__shown_store_note(f->store, 0, &f->shown);
    g_string_append_len(f->all, out->str, (gssize)out->len);
    g_string_free(out, TRUE);
}

static void print(fixture *f, const char *text)
{
    GString *out = g_string_new(NULL);
    dome__shown_take(&f->shown, text, strlen(text), f->all->len, out);
    take(f, out);
}

static void pass(fixture *f)
{
    GString *out = g_string_new(NULL);
    dome__shown_pass(&f->shown, f->all->len, out);
    take(f, out);
}

/* Writes what waits, up to so many bytes of it. */
static void write_out(fixture *f, size_t most)
{
    const size_t until = f->store ? f->written + MIN(most, f->all->len - f->written) : 0;
    while (f->written < until) {
        const ssize_t n = dome__shown_store_write(f->store, f->output, f->all->str + f->written, until - f->written);
        g_assert_cmpint(n, >, 0);
        f->written += (size_t)n;
    }
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
            if (g_rand_int_range(draw, 0, 3) == 0)
                write_out(f, (size_t)g_rand_int_range(draw, 0, 30));
            if (killed && done >= until)
                return last;
        }
        if (b == from)
            pass(f);
        if (b < BOUNDARIES && g_rand_int_range(draw, 0, 3) == 0) {
            last = b + 1;
            dome__shown_mark(&f->shown, (uint64_t)last);
            if (f->store)
                dome__shown_store_note(f->store, 0, &f->shown);
            write_out(f, G_MAXSIZE); /* before the task goes on */
        }
    }
    return last;
}

static void make_program(program *p, GString *parts[BOUNDARIES + 1], GString *all, GRand *draw)
{
    for (int b = 0; b <= BOUNDARIES; b++) {
        parts[b] = g_string_new(NULL);
        lines_of(parts[b], draw, b);
        g_string_append(all, parts[b]->str);
        p->text[b] = parts[b]->str;
        p->length[b] = parts[b]->len;
    }
}

static void test_histories(void)
{
    for (guint32 seed = 0; seed < 400; seed++) {
        GRand *draw = g_rand_new_with_seed(seed);
        fixture f = begin();
        GString *parts[BOUNDARIES + 1], *all = g_string_new(NULL);
        program p;
        make_program(&p, parts, all, draw);
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

/* ---- the copy for other hosts ---- */

/* A run on another host: it has the output and the copy of the one before. file: of its own. */
static fixture go_on_elsewhere(const char *copy, const char *output, int *file)
{
    fixture f = {.all = g_string_new(NULL)};
    g_autofree char *why = NULL, *text = NULL;
    *file = dome__shown_file();
    f.output = open(output, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    f.store = dome__shown_store_open(*file);
    if (!dome__shown_store_copy_to(f.store, copy, f.output, &why))
        g_error("%s: %s", copy, why);
    const uint64_t shown = dome__shown_written(dome__shown_writer_of(f.store));
    g_assert_true(g_file_get_contents(output, &text, NULL, NULL));
    g_string_append(f.all, text);
    g_assert_cmpuint(shown, ==, f.all->len);
    f.written = f.all->len;
    f.past = dome__shown_past_of(f.store, 0);
    if (f.past->begun)
        dome__shown_rewind(f.past, shown, true);
    dome__shown_begin(&f.shown, f.past, shown, false);
    dome__shown_stream_of(f.store)->begun = 1;
    dome__shown_store_note_stream(f.store);
    return f;
}

static void lose_host(fixture *f, int file)
{
    dome__shown_clear(&f->shown);
    g_string_free(f->all, TRUE);
    dome__shown_store_close(f->store);
    close(f->output);
    close(file);
}

static void test_copies(void)
{
    g_autofree char *folder = g_dir_make_tmp("dome-test.XXXXXX", NULL);
    g_autofree char *copy = g_build_filename(folder, "copy", NULL), *output = g_build_filename(folder, "output", NULL);
    for (guint32 seed = 0; seed < 40; seed++) {
        GRand *draw = g_rand_new_with_seed(seed);
        GString *parts[BOUNDARIES + 1], *all = g_string_new(NULL);
        program p;
        fixture f;
        int last = 0, file;
        make_program(&p, parts, all, draw);
        for (int k = 0; k < 5; k++) {
            f = go_on_elsewhere(copy, output, &file);
            last = run(&f, draw, &p, last, (size_t)g_rand_int_range(draw, 0, 60), true, last);
            lose_host(&f, file);
        }
        f = go_on_elsewhere(copy, output, &file);
        run(&f, draw, &p, last, 0, false, last);
        write_out(&f, G_MAXSIZE);
        dome__shown_end(&f.shown);
        g_autofree char *text = NULL;
        g_assert_true(g_file_get_contents(output, &text, NULL, NULL));
        g_assert_cmpstr(text, ==, all->str);
        g_assert_cmpuint(f.past->different, ==, 0);
        lose_host(&f, file);
        for (int b = 0; b <= BOUNDARIES; b++)
            g_string_free(parts[b], TRUE);
        g_string_free(all, TRUE);
        g_rand_free(draw);
        g_assert_cmpint(unlink(copy) | unlink(output), ==, 0);
    }
    g_assert_cmpint(rmdir(folder), ==, 0);
}

/* Whatever its host is, the file's numbers have the least byte first. */
static void test_copy_form(void)
{
    g_autofree char *name = NULL;
    const char *why;
    guint8 bytes[80];
    dome_shown_state state;
    dome_shown_position position;
    dome_shown_past *past = g_new0(dome_shown_past, 1), *other = g_new0(dome_shown_past, 1);
    close(g_file_open_tmp("dome-test.XXXXXX", &name, NULL));
    const int fd = dome__shown_copy_open(name, &why);
    g_assert_cmpint(dome__shown_copy_read_state(fd, &state, &position), ==, DOME_SHOWN_COPY_NEW);
    g_assert_true(dome__shown_copy_write_state(fd, &(dome_shown_state){3, 1}));
    g_assert_true(dome__shown_copy_write_position(fd, &(dome_shown_position){0x1234, 0x5678}));
    g_assert_cmpint(pread(fd, bytes, sizeof bytes, 0), ==, sizeof bytes);
    g_assert_cmpmem(bytes, 17, "DOMESHWN\1\0\0\0\0\0\0\0\3", 17);
    g_assert_cmpmem(bytes + 64, 9, "\x34\x12\0\0\0\0\0\0\x78", 9);
    g_assert_cmpint(dome__shown_copy_read_state(fd, &state, &position), ==, DOME_SHOWN_COPY_THERE);
    g_assert_cmpuint(state.ranks, ==, 3);
    g_assert_cmpuint(position.offset, ==, 0x5678);

    past->end.line = DOME_SHOWN_LINES + 5; /* lines on both sides of the array's end */
    for (int k = 0; k < 10; k++)
        past->line[(DOME_SHOWN_LINES - 5 + k) % DOME_SHOWN_LINES].hash = (uint64_t)k + 1;
    past->mark[7].loop = 77;
    g_assert_true(dome__shown_copy_write(fd, 2, past, DOME_SHOWN_LINES - 5));
    g_assert_true(dome__shown_copy_read(fd, 2, other));
    g_assert_cmpmem(past, sizeof *past, other, sizeof *other);
    past->firsts = DOME_SHOWN_FIRST + 1;
    g_assert_true(dome__shown_copy_write(fd, 1, past, past->end.line));
    g_assert_false(dome__shown_copy_read(fd, 1, other));

    g_assert_cmpint(pwrite(fd, "letter", 6, 0), ==, 6);
    g_assert_cmpint(dome__shown_copy_read_state(fd, &state, &position), ==, DOME_SHOWN_COPY_STRANGE);
    close(fd);
    unlink(name);
    g_free(past);
    g_free(other);
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
    g_test_add_func("/shown/copies", test_copies);
    g_test_add_func("/shown/copy, form", test_copy_form);
    g_test_add_func("/shown/store", test_store);
    g_test_add_func("/shown/stream", test_stream);
    g_test_add_func("/shown/appended", test_appended);
    g_test_add_func("/shown/killed", test_killed);
    return g_test_run();
}
