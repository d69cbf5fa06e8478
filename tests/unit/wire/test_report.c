#include "wire/report.h"

#include "transport/control_socket.h"
#include "transport/handshake.h"
#include "wire/wire.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

static const char COOKIE[] = "0123456789abcdef0123456789abcdef";

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
    GPtrArray *texts = dome__report_ask_all(NULL);
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
    int fd = dome__control_socket_listen(DOME_CONTROL_REPORT);
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

/* A hub on another host, as far as dome ps needs it: what it sends after the handshake is the text and its code, of which a bit
 * differs, or of which the end is missing. */
typedef struct far {
    int listening, altered, missing; /* altered, missing: bytes before the end; -1: none */
    char *text;
} far;

static gpointer be_far(gpointer data)
{
    const far *f = data;
    const int fd = accept(f->listening, NULL, NULL);
    dome_handshake handshake;
    dome_macs macs;
    dome__handshake_begin(&handshake, false, DOME_WIRE_PURPOSE, COOKIE, strlen(COOKIE), 0);
    g_assert_true(dome__handshake_complete(&handshake, fd, DOME_HANDSHAKE_PATIENCE));
    g_assert_cmpuint(handshake.word, ==, DOME_WIRE_ASK);
    g_assert_true(dome__handshake_macs(&handshake, fd, &macs));
    uint8_t code[DOME_MAC_BYTES];
    GString *all = g_string_new(f->text);
    dome__mac_next(&macs.out, all->str, all->len, code);
    g_string_append_len(all, (const char *)code, sizeof code);
    if (f->altered >= 0)
        all->str[all->len - 1 - (gsize)f->altered] ^= 1;
    if (f->missing >= 0)
        g_string_truncate(all, all->len - (gsize)f->missing);
    g_assert_cmpint(send(fd, all->str, all->len, MSG_NOSIGNAL), ==, all->len);
    close(fd);
    g_string_free(all, TRUE);
    return NULL;
}

/* From elsewhere only the hub's own words are shown. */
static void test_far(void)
{
    dome_report *r = example();
    struct sockaddr_in here = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t length = sizeof here;
    far f = {.listening = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), .text = dome__report_text(r)};
    g_assert_true(bind(f.listening, (struct sockaddr *)&here, sizeof here) == 0 && listen(f.listening, 1) == 0);
    g_assert_cmpint(getsockname(f.listening, (struct sockaddr *)&here, &length), ==, 0);
    /* By an address that is not known as loopback. */
    char *address = g_strdup_printf("%s;0.0.0.0:%d;", COOKIE, ntohs(here.sin_port));
    char *wrong =
        g_strdup_printf("the answer of the program at 0.0.0.0:%d was altered or cut off on the way", ntohs(here.sin_port));
    const int all = (int)strlen(f.text) + DOME_MAC_BYTES;
    const struct {
        int altered, missing;
        bool good, said;
    } cases[] = {{-1, -1, true, false}, {0, -1, false, true},  {20, -1, false, true},  {all - 1, -1, false, true},
                 {-1, 1, false, true},  {-1, 16, false, true}, {-1, all, false, false}};
    for (size_t k = 0; k < G_N_ELEMENTS(cases); k++) {
        f.altered = cases[k].altered;
        f.missing = cases[k].missing;
        GThread *thread = g_thread_new("hub", be_far, &f);
        char *message = NULL, *text = dome__report_ask_hub(address, &message);
        g_thread_join(thread);
        g_assert_cmpstr(text, ==, cases[k].good ? f.text : NULL);
        g_assert_cmpstr(message, ==, cases[k].said ? wrong : NULL);
        g_free(message);
        g_free(text);
    }
    close(f.listening);
    g_free(address);
    g_free(wrong);
    g_free(f.text);
    dome__report_free(r);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/report/round-trip", test_round_trip);
    g_test_add_func("/report/asking", test_asking);
    g_test_add_func("/report/from elsewhere", test_far);
    return g_test_run();
}
