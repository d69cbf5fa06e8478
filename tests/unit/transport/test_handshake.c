/* How processes of one program recognize each other: over real connections, with several kinds of strangers at the other end. */
#include "transport/handshake.h"
#include "transport/mac.h"
#include "wire/hub_address.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

static const char COOKIE[] = "0123456789abcdef0123456789abcdef";

typedef struct ends {
    int listening, port, connects, listens;
} ends;

static int listen_at(const char *address, int *port)
{
    struct sockaddr_in here = {.sin_family = AF_INET, .sin_addr.s_addr = inet_addr(address), .sin_port = htons((uint16_t)*port)};
    socklen_t length = sizeof here;
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), on = 1;
    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    g_assert_true(bind(fd, (struct sockaddr *)&here, sizeof here) == 0 && listen(fd, 64) == 0);
    getsockname(fd, (struct sockaddr *)&here, &length);
    *port = ntohs(here.sin_port);
    return fd;
}

static int connect_to(const char *address, int port)
{
    struct sockaddr_in to = {.sin_family = AF_INET, .sin_addr.s_addr = inet_addr(address), .sin_port = htons((uint16_t)port)};
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    g_assert_cmpint(connect(fd, (struct sockaddr *)&to, sizeof to), ==, 0);
    return fd;
}

static ends join(void)
{
    ends e = {0};
    e.listening = listen_at("127.0.0.1", &e.port);
    e.connects = connect_to("127.0.0.1", e.port);
    e.listens = accept(e.listening, NULL, NULL);
    g_assert_cmpint(e.listens, >=, 0);
    return e;
}

static void part(ends *e)
{
    close(e->connects);
    close(e->listens);
    close(e->listening);
}

static dome_handshake side(bool connects, const char *purpose, const char *cookie, uint32_t word)
{
    dome_handshake h;
    dome__handshake_begin(&h, connects, purpose, cookie, strlen(cookie), word);
    return h;
}

/* Runs both sides in turn until neither waits for data. */
static void run(const ends *e, dome_handshake *a, dome_handshake *b, dome_handshake_state *of_a, dome_handshake_state *of_b)
{
    *of_a = *of_b = DOME_HANDSHAKE_MORE;
    for (int turn = 0; turn < 5; turn++) {
        if (*of_a == DOME_HANDSHAKE_MORE)
            *of_a = dome__handshake_step(a, e->connects);
        if (*of_b == DOME_HANDSHAKE_MORE)
            *of_b = dome__handshake_step(b, e->listens);
        if (*of_a == DOME_HANDSHAKE_FAILED)
            shutdown(e->connects, SHUT_RDWR);
        if (*of_b == DOME_HANDSHAKE_FAILED)
            shutdown(e->listens, SHUT_RDWR);
    }
}

static void test_right(void)
{
    ends e = join();
    dome_handshake a = side(true, "test", COOKIE, 0x01020304), b = side(false, "test", COOKIE, 0);
    dome_handshake_state of_a, of_b;
    run(&e, &a, &b, &of_a, &of_b);
    g_assert_cmpint(of_a, ==, DOME_HANDSHAKE_DONE);
    g_assert_cmpint(of_b, ==, DOME_HANDSHAKE_DONE);
    g_assert_cmphex(b.word, ==, 0x01020304);
    part(&e);
}

/* A listening socket of another family: IPv6, or a local one with a name. */
static ends join_at(struct sockaddr *here, socklen_t length)
{
    ends e = {.listening = socket(here->sa_family, SOCK_STREAM | SOCK_CLOEXEC, 0)};
    if (e.listening < 0 || bind(e.listening, here, length) != 0)
        return (ends){-1, 0, -1, -1};
    g_assert_cmpint(listen(e.listening, 4), ==, 0);
    struct sockaddr_storage bound;
    socklen_t bytes = sizeof bound;
    g_assert_cmpint(getsockname(e.listening, (struct sockaddr *)&bound, &bytes), ==, 0);
    e.connects = socket(here->sa_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
    g_assert_cmpint(connect(e.connects, (struct sockaddr *)&bound, bytes), ==, 0);
    e.listens = accept(e.listening, NULL, NULL);
    return e;
}

/* Both ends have the same keys, so both have seen the same place. */
static void joined_well(ends *e)
{
    dome_handshake a = side(true, "test", COOKIE, 7), b = side(false, "test", COOKIE, 0);
    dome_handshake_state of_a, of_b;
    dome_macs connects, listens;
    run(e, &a, &b, &of_a, &of_b);
    g_assert_true(of_a == DOME_HANDSHAKE_DONE && of_b == DOME_HANDSHAKE_DONE);
    g_assert_true(dome__handshake_macs(&a, e->connects, &connects) && dome__handshake_macs(&b, e->listens, &listens));
    g_assert_cmpmem(&connects.out, sizeof(dome_mac), &listens.in, sizeof(dome_mac));
    part(e);
}

static void test_families(void)
{
    struct sockaddr_in6 six = {.sin6_family = AF_INET6, .sin6_addr = IN6ADDR_LOOPBACK_INIT};
    struct sockaddr_un local = {.sun_family = AF_UNIX};
    const int length = snprintf(local.sun_path + 1, sizeof local.sun_path - 1, "dome-test-handshake/%d", (int)getpid());
    ends e = join_at((struct sockaddr *)&local, (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)length));
    joined_well(&e);
    e = join_at((struct sockaddr *)&six, sizeof six);
    if (e.listening >= 0) /* there may be no IPv6 */
        joined_well(&e);
}

/* A socket for IPv6 that also accepts IPv4: its end names the place in another way than the connecting one. */
static void test_mapped(void)
{
    struct sockaddr_in6 any = {.sin6_family = AF_INET6, .sin6_addr = IN6ADDR_ANY_INIT};
    socklen_t length = sizeof any;
    ends e = {.listening = socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0)};
    if (e.listening < 0 || bind(e.listening, (struct sockaddr *)&any, sizeof any) != 0)
        return;
    g_assert_true(listen(e.listening, 4) == 0 && getsockname(e.listening, (struct sockaddr *)&any, &length) == 0);
    e.connects = connect_to("127.0.0.1", ntohs(any.sin6_port));
    e.listens = accept(e.listening, NULL, NULL);
    joined_well(&e);
}

/* Both ends have the same two keys, one for each direction, and other ones than on any other connection. */
static void test_keys(void)
{
    dome_macs connects[2], listens[2];
    for (int k = 0; k < 2; k++) {
        ends e = join();
        dome_handshake a = side(true, "test", COOKIE, 1), b = side(false, "test", COOKIE, 0);
        dome_handshake_state of_a, of_b;
        run(&e, &a, &b, &of_a, &of_b);
        g_assert_true(of_a == DOME_HANDSHAKE_DONE && of_b == DOME_HANDSHAKE_DONE);
        g_assert_true(dome__handshake_macs(&a, e.connects, &connects[k]) && dome__handshake_macs(&b, e.listens, &listens[k]));
        part(&e);
    }
    for (int k = 0; k < 2; k++) {
        g_assert_cmpmem(&connects[k].out, sizeof(dome_mac), &listens[k].in, sizeof(dome_mac));
        g_assert_cmpmem(&connects[k].in, sizeof(dome_mac), &listens[k].out, sizeof(dome_mac));
        g_assert_true(connects[k].in.key[0] != connects[k].out.key[0] && connects[k].in.key[1] != connects[k].out.key[1]);
    }
    g_assert_true(connects[0].out.key[0] != connects[1].out.key[0] && connects[0].in.key[0] != connects[1].in.key[0]);
}

/* What the authors' own program gives for the key 00 01 ... 0f and the bytes 00 01 ...; the first eight of them are the number of
 * the message. */
static void test_vectors(void)
{
    static const struct {
        size_t bytes;
        const char *code;
    } cases[] = {{8, "3b62a9ba6258f5610f83e264f31497b4"},
                 {9, "264499060ad9baabc47f8b02bb6d71ed"},
                 {21, "568e495abe525a218a2214cd3e071d12"}};
    uint8_t key[DOME_MAC_KEY], bytes[32], code[DOME_MAC_BYTES];
    for (size_t k = 0; k < sizeof bytes; k++)
        bytes[k] = (uint8_t)k;
    memcpy(key, bytes, sizeof key);
    for (size_t c = 0; c < G_N_ELEMENTS(cases); c++) {
        dome_mac mac = dome__mac_of(key);
        mac.messages = UINT64_C(0x0706050403020100);
        GString *text = g_string_new(NULL);
        dome__mac_next(&mac, bytes + 8, cases[c].bytes - 8, code);
        for (size_t k = 0; k < sizeof code; k++)
            g_string_append_printf(text, "%02x", code[k]);
        g_assert_cmpstr(text->str, ==, cases[c].code);
        g_assert_cmphex(mac.messages, ==, UINT64_C(0x0706050403020101));
        g_string_free(text, TRUE);
    }
}

static void test_wrong(void)
{
    static const struct {
        const char *purpose, *cookie;
    } cases[] = {{"test", "0123456789abcdef0123456789abcdeF"}, {"another", COOKIE}, {"test", ""}};
    for (size_t k = 0; k < G_N_ELEMENTS(cases); k++) {
        ends e = join();
        dome_handshake a = side(true, "test", COOKIE, 1), b = side(false, cases[k].purpose, cases[k].cookie, 0);
        dome_handshake_state of_a, of_b;
        run(&e, &a, &b, &of_a, &of_b);
        g_assert_cmpint(of_a, ==, DOME_HANDSHAKE_FAILED);
        g_assert_cmpint(of_b, ==, DOME_HANDSHAKE_FAILED);
        part(&e);
    }
}

/* Relays all data in both directions, until none arrives for a moment: a process that connects here gets the data of the other
 * end. */
static void relay(int a, int b, GByteArray *seen)
{
    struct pollfd p[2] = {{.fd = a, .events = POLLIN}, {.fd = b, .events = POLLIN}};
    if (poll(p, 2, 0) <= 0)
        return;
    for (int k = 0; k < 2; k++) {
        guint8 buffer[512];
        ssize_t n = p[k].revents ? recv(p[k].fd, buffer, sizeof buffer, MSG_DONTWAIT) : 0;
        if (n > 0 && send(k ? a : b, buffer, (size_t)n, MSG_NOSIGNAL) == n)
            g_byte_array_append(seen, buffer, (guint)n);
    }
}

/* A stranger at another address relays everything to the right one. */
static void test_in_between(void)
{
    ends e = {0};
    int port = 0, false_hub = listen_at("127.0.0.2", &port);
    e.listening = listen_at("127.0.0.1", &e.port);
    e.connects = connect_to("127.0.0.2", port);
    int to_victim = accept(false_hub, NULL, NULL), to_hub = connect_to("127.0.0.1", e.port);
    e.listens = accept(e.listening, NULL, NULL);
    dome_handshake a = side(true, "test", COOKIE, 1), b = side(false, "test", COOKIE, 0);
    dome_handshake_state of_a = DOME_HANDSHAKE_MORE, of_b = DOME_HANDSHAKE_MORE;
    GByteArray *seen = g_byte_array_new();
    for (int turn = 0; turn < 10; turn++) {
        of_a = of_a == DOME_HANDSHAKE_MORE ? dome__handshake_step(&a, e.connects) : of_a;
        relay(to_victim, to_hub, seen);
        of_b = of_b == DOME_HANDSHAKE_MORE ? dome__handshake_step(&b, e.listens) : of_b;
        relay(to_victim, to_hub, seen);
    }
    g_assert_cmpint(of_a, ==, DOME_HANDSHAKE_FAILED);
    g_assert_cmpint(of_b, !=, DOME_HANDSHAKE_DONE);
    g_assert_cmpint(seen->len, >, DOME_HANDSHAKE_NONCE);
    g_assert_null(memmem(seen->data, seen->len, COOKIE, 8));
    g_byte_array_unref(seen);
    close(to_victim);
    close(to_hub);
    close(false_hub);
    part(&e);
}

/* A stranger sends back what the other side sent, on the same connection or on another one of the same kind. */
static void test_reflected(void)
{
    ends e = join();
    dome_handshake b = side(false, "test", COOKIE, 0);
    guint8 message[256] = "";
    g_assert_cmpint(send(e.connects, message, DOME_HANDSHAKE_NONCE, 0), ==, DOME_HANDSHAKE_NONCE);
    g_assert_cmpint(dome__handshake_step(&b, e.listens), ==, DOME_HANDSHAKE_MORE);
    g_assert_cmpint(recv(e.connects, message, sizeof message, 0), ==, DOME_HANDSHAKE_NONCE + DOME_HANDSHAKE_PROOF);
    guint8 back[4 + DOME_HANDSHAKE_PROOF] = "";
    memcpy(back + 4, message + DOME_HANDSHAKE_NONCE, DOME_HANDSHAKE_PROOF);
    g_assert_cmpint(send(e.connects, back, sizeof back, 0), ==, sizeof back);
    g_assert_cmpint(dome__handshake_step(&b, e.listens), ==, DOME_HANDSHAKE_FAILED);
    part(&e);
}

/* A stranger sends the bytes of an earlier good connection. */
static void test_replayed(void)
{
    ends e = join(), later;
    dome_handshake a = side(true, "test", COOKIE, 1), b = side(false, "test", COOKIE, 0);
    dome_handshake_state of_a, of_b;
    run(&e, &a, &b, &of_a, &of_b);
    g_assert_cmpint(of_b, ==, DOME_HANDSHAKE_DONE);
    later.connects = connect_to("127.0.0.1", e.port);
    later.listens = accept(e.listening, NULL, NULL);
    guint8 again[DOME_HANDSHAKE_NONCE + 4 + DOME_HANDSHAKE_PROOF] = "";
    memcpy(again, a.nonces[0], DOME_HANDSHAKE_NONCE);
    again[DOME_HANDSHAKE_NONCE + 3] = 1;
    memcpy(again + DOME_HANDSHAKE_NONCE + 4, b.in + 4, DOME_HANDSHAKE_PROOF);
    b = side(false, "test", COOKIE, 0);
    g_assert_cmpint(send(later.connects, again, sizeof again, 0), ==, sizeof again);
    g_assert_cmpint(dome__handshake_step(&b, later.listens), ==, DOME_HANDSHAKE_FAILED);
    close(later.connects);
    close(later.listens);
    part(&e);
}

static void test_silent(void)
{
    ends e = join();
    dome_handshake a = side(true, "test", COOKIE, 1);
    gint64 began = g_get_monotonic_time();
    g_assert_false(dome__handshake_complete(&a, e.connects, 0.1));
    g_assert_cmpint(g_get_monotonic_time() - began, >=, 90000);
    part(&e);
}

static gpointer listen_in(gpointer data)
{
    GByteArray *heard = g_byte_array_new();
    guint8 buffer[512];
    int fd = accept(GPOINTER_TO_INT(data), NULL, NULL);
    for (ssize_t n; (n = recv(fd, buffer, sizeof buffer, 0)) > 0;) {
        g_byte_array_append(heard, buffer, (guint)n);
        memset(buffer, 'x', sizeof buffer); /* the answer of a process that does not know the cookie */
        if (send(fd, buffer, 64, MSG_NOSIGNAL) < 0)
            break;
    }
    close(fd);
    return heard;
}

/* A stranger listens at the address where a task expects its hub. */
static void test_false_hub(void)
{
    int port = 0, fd = listen_at("127.0.0.1", &port);
    char *text = g_strdup_printf("%s;127.0.0.1:%d;", COOKIE, port);
    dome_hub_address address;
    dome_macs macs;
    g_assert_true(dome__hub_address_parse(&address, text));
    GThread *stranger = g_thread_new("stranger", listen_in, GINT_TO_POINTER(fd));
    g_assert_cmpint(dome__hub_connect(&address, address.endpoints[0], DOME_WIRE_WATCH, 2, &macs), <, 0);
    GByteArray *heard = g_thread_join(stranger);
    g_assert_cmpint(heard->len, ==, DOME_HANDSHAKE_NONCE);
    g_assert_null(memmem(heard->data, heard->len, COOKIE, 8));
    g_byte_array_unref(heard);
    dome__hub_address_clear(&address);
    g_free(text);
    close(fd);
}

static void test_outside(void)
{
    dome_hub_address address;
    g_assert_true(dome__hub_address_parse(
        &address, "0123456789abcdef0123456789abcdef;127.0.0.1:80,10.0.0.1:80,127.0.1.1:80,10.0.0.2:80;/tmp/x"));
    dome__hub_address_outside(&address);
    g_assert_cmpuint(g_strv_length(address.endpoints), ==, 2);
    g_assert_cmpstr(address.endpoints[0], ==, "10.0.0.1:80");
    g_assert_cmpstr(address.endpoints[1], ==, "10.0.0.2:80");
    dome__hub_address_clear(&address);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/handshake/right", test_right);
    g_test_add_func("/handshake/families", test_families);
    g_test_add_func("/handshake/mapped", test_mapped);
    g_test_add_func("/handshake/keys", test_keys);
    g_test_add_func("/handshake/codes", test_vectors);
    g_test_add_func("/handshake/wrong", test_wrong);
    g_test_add_func("/handshake/in-between", test_in_between);
    g_test_add_func("/handshake/reflected", test_reflected);
    g_test_add_func("/handshake/replayed", test_replayed);
    g_test_add_func("/handshake/silent", test_silent);
    g_test_add_func("/handshake/false-hub", test_false_hub);
    g_test_add_func("/handshake/outside", test_outside);
    return g_test_run();
}
