/* Lines between daemons: only the next one of the other side is taken, whole. */
#include "daemon/remote_line.h"

#include <glib.h>
#include <glib/gstdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const uint8_t key[DOME_MAC_KEY] = "0123456789abcde";

static char *seal(dome_mac *mac, const char *verb, const char *value)
{
    dome_record r = dome__record_new(verb);
    dome__record_add(&r, "value", value);
    char *line = dome__remote_seal(mac, &r);
    dome__record_clear(&r);
    return line;
}

static bool opens(dome_mac *mac, const char *line, const char *verb)
{
    dome_record r;
    if (!dome__remote_open(mac, line, strlen(line) - 1, &r))
        return false;
    g_assert_cmpstr(r.verb, ==, verb);
    dome__record_clear(&r);
    return true;
}

static void test_order(void)
{
    dome_mac out = dome__mac_of(key), in = dome__mac_of(key);
    char *first = seal(&out, "first", "a b\n"), *second = seal(&out, "second", "x");
    g_assert_true(opens(&in, first, "first"));
    g_assert_true(opens(&in, second, "second"));
    g_assert_false(opens(&in, second, "second")); /* said again */
    in = dome__mac_of(key);
    g_assert_false(opens(&in, second, "second")); /* the first left out */
    g_free(first);
    g_free(second);
}

/* Any byte that is altered, and any part of it. */
static void test_altered(void)
{
    dome_mac out = dome__mac_of(key);
    char *line = seal(&out, "wish", "stop");
    for (size_t i = 0; i + 1 < strlen(line); i++) {
        dome_mac in = dome__mac_of(key);
        dome_record r;
        char *other = g_strdup(line);
        other[i] ^= 1;
        g_assert_false(opens(&in, other, "wish"));
        in = dome__mac_of(key);
        g_assert_false(dome__remote_open(&in, line, i, &r));
        g_free(other);
    }
    dome_mac in = dome__mac_of((const uint8_t *)"another key, too");
    g_assert_false(opens(&in, line, "wish"));
    g_free(line);
}

static void test_address(void)
{
    static const struct {
        const char *text, *host;
        int port;
    } cases[] = {{"h1", "h1", DOME_REMOTE_PORT},
                 {"h1:80", "h1", 80},
                 {"[::1]:80", "::1", 80},
                 {"[::1]", "::1", DOME_REMOTE_PORT},
                 {"", NULL, 0},
                 {":80", NULL, 0},
                 {"h1:", NULL, 0},
                 {"h1:0", NULL, 0},
                 {"h1:x", NULL, 0}};
    for (size_t k = 0; k < G_N_ELEMENTS(cases); k++) {
        char *host = NULL;
        int port = 0;
        const bool good = dome__remote_address(cases[k].text, &host, &port);
        g_assert_cmpint(good, ==, cases[k].host != NULL);
        g_assert_cmpstr(host, ==, cases[k].host);
        g_assert_true(!good || port == cases[k].port);
        g_free(host);
    }
}

/* Of its user alone, long enough, and a file. */
static void test_key(void)
{
    char *folder = g_dir_make_tmp("dome-key-XXXXXX", NULL), *path = g_build_filename(folder, "key", NULL), *message = NULL;
    size_t length = 0;
    g_assert_null(dome__remote_key(path, &length, &message));
    g_assert_nonnull(message);
    g_clear_pointer(&message, g_free);
    g_assert_true(g_file_set_contents(path, "0123456789012345678901234567890123456789", 40, NULL));
    g_assert_cmpint(chmod(path, 0644), ==, 0);
    g_assert_null(dome__remote_key(path, &length, &message));
    g_clear_pointer(&message, g_free);
    g_assert_cmpint(chmod(path, 0600), ==, 0);
    char *text = dome__remote_key(path, &length, &message);
    g_assert_nonnull(text);
    g_assert_cmpuint(length, ==, 40);
    g_free(text);
    g_assert_null(dome__remote_key(folder, &length, &message));
    g_clear_pointer(&message, g_free);
    g_assert_cmpint(g_unlink(path), ==, 0);
    g_assert_cmpint(symlink("/etc/hostname", path), ==, 0);
    g_assert_null(dome__remote_key(path, &length, &message));
    g_clear_pointer(&message, g_free);
    g_unlink(path);
    g_rmdir(folder);
    g_free(path);
    g_free(folder);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/remote_line/order", test_order);
    g_test_add_func("/remote_line/altered", test_altered);
    g_test_add_func("/remote_line/address", test_address);
    g_test_add_func("/remote_line/key", test_key);
    return g_test_run();
}
