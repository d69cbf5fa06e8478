/* What is known of the links between hosts: clusters, the ring, filling in, files. */
#include "local_transport.h"
#include "network/discovery.h"
#include "network/measure.h"
#include "network/network_exchange.h"
#include "network/network_file.h"
#include "network/survey.h"
#include "system/environment_variables.h"
#include "system/files.h"
#include "system/time.h"

#include "transport/collective.h"
#include "transport/message.h"

#include <fcntl.h>
#include <glib.h>
#include <glib/gstdio.h>
#include <math.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

enum { MOST = 64, TRIALS = 200 };

static double between(GRand *rand, double low, double high)
{
    return g_rand_double_range(rand, low, high);
}

static dome_network *nothing_known(int hosts)
{
    char *names[MOST + 1] = {NULL};
    for (int i = 0; i < hosts; i++)
        names[i] = g_strdup_printf("host%d", i);
    dome_network *network = dome__network_new(hosts, names);
    for (int i = 0; i < hosts; i++)
        g_free(names[i]);
    return network;
}

/* Hosts in clusters at random, named in any order; links differ by up to `noise` from their kind's. far: how much slower the
 * links between clusters are. */
static dome_network *in_clusters(GRand *rand, int hosts, int clusters, double far, double noise, int *cluster)
{
    dome_network *network = nothing_known(hosts);
    for (int i = 0; i < hosts; i++)
        cluster[i] = i < 2 * clusters ? i / 2 : g_rand_int_range(rand, 0, clusters);
    for (int i = hosts - 1; i > 0; i--) {
        int k = g_rand_int_range(rand, 0, i + 1), kept = cluster[i];
        cluster[i] = cluster[k];
        cluster[k] = kept;
    }
    for (int a = 0; a < hosts; a++)
        for (int b = 0; b < a; b++) {
            double slow = cluster[a] == cluster[b] ? 1 : far;
            dome__network_enter(network, a, b, 1e-4 * slow * between(rand, 1 - noise, 1 + noise),
                                1e8 / slow * between(rand, 1 - noise, 1 + noise), 0);
        }
    return network;
}

static bool same_partition(int hosts, const int *one, const int *other)
{
    for (int a = 0; a < hosts; a++)
        for (int b = 0; b < a; b++)
            if ((one[a] == one[b]) != (other[a] == other[b]))
                return false;
    return true;
}

static void check_same_partition(int hosts, const int *one, const int *other)
{
    g_assert_true(same_partition(hosts, one, other));
}

static void test_clusters_found(void)
{
    GRand *rand = g_rand_new_with_seed(1);
    for (int k = 0; k < TRIALS; k++) {
        int clusters = g_rand_int_range(rand, 1, 6), hosts = g_rand_int_range(rand, 2 * clusters, 33), is[MOST], found[MOST];
        dome_network *network = in_clusters(rand, hosts, clusters, between(rand, 4, 100), 0.2, is);
        g_assert_null(dome__network_wrong(network));
        g_assert_cmpint(dome__network_clusters(network, found), ==, clusters);
        check_same_partition(hosts, is, found);
        dome__network_free(network);
    }
    g_rand_free(rand);
}

static void test_numbered_by_first_host(void)
{
    GRand *rand = g_rand_new_with_seed(2);
    int is[MOST], found[MOST], next = 0;
    dome_network *network = in_clusters(rand, 12, 3, 10, 0.1, is);
    dome__network_clusters(network, found);
    for (int i = 0; i < 12; i++) {
        g_assert_cmpint(found[i], <=, next);
        next = MAX(next, found[i] + 1);
    }
    dome__network_free(network);
    g_rand_free(rand);
}

static void test_slow_host(void)
{
    GRand *rand = g_rand_new_with_seed(3);
    int cluster[MOST];
    dome_network *network = nothing_known(7);
    for (int a = 0; a < 7; a++)
        for (int b = 0; b < a; b++)
            dome__network_enter(network, a, b, 1e-4, (a == 4 || b == 4 ? 1e7 : 1e8) * between(rand, 0.8, 1.2), 0);
    g_assert_cmpint(dome__network_clusters(network, cluster), ==, 2);
    for (int i = 0; i < 7; i++)
        g_assert_cmpint(cluster[i], ==, i == 4);
    dome__network_free(network);
    g_rand_free(rand);
}

/* A link that was measured much too slow, between hosts that others join. */
static void test_burst(void)
{
    GRand *rand = g_rand_new_with_seed(4);
    int is[MOST], found[MOST];
    dome_network *network = in_clusters(rand, 10, 1, 1, 0.2, is);
    dome__network_enter(network, 2, 7, 0.1, 1e5, 0);
    g_assert_cmpint(dome__network_clusters(network, found), ==, 1);
    dome__network_free(network);
    g_rand_free(rand);
}

static void test_few(void)
{
    int cluster[2], order[2];
    for (int hosts = 0; hosts <= 2; hosts++) {
        dome_network *network = nothing_known(hosts);
        g_assert_cmpint(dome__network_clusters(network, cluster), ==, hosts > 0);
        dome__network_fill(network);
        g_assert_cmpfloat(dome__network_tour(network, order), ==, hosts == 2 ? 2 : 0);
        if (hosts == 2) {
            dome__network_enter(network, 0, 1, 0.25, DOME_NETWORK_MESSAGE * 4, 0);
            g_assert_cmpint(dome__network_clusters(network, cluster), ==, 1);
            g_assert_cmpfloat(dome__network_tour(network, order), ==, 1);
        }
        dome__network_free(network);
    }
}

/* Host 5 joined after the file was written. */
static void test_select(void)
{
    GRand *rand = g_rand_new_with_seed(5);
    int is[MOST], cluster[5], order[5];
    dome_network *network = in_clusters(rand, 6, 1, 1, 0.2, is);
    char *names[] = {(char *)"host3", (char *)"new", (char *)"host0", (char *)"host5", (char *)"host1", NULL};
    network->measured = 42;
    dome_network *chosen = dome__network_select(network, 5, names);
    g_assert_null(dome__network_wrong(chosen));
    g_assert_cmpint(chosen->measured, ==, 42);
    g_assert_cmpfloat(dome__network_seconds(chosen, 0, 3, 8), ==, dome__network_seconds(network, 3, 5, 8));
    g_assert_cmpfloat(dome__network_seconds(chosen, 0, 1, 8), ==, 0);
    g_assert_cmpint(dome__network_clusters(chosen, cluster), ==, 2);
    g_assert_cmpint(cluster[1], ==, 1);
    dome__network_fill(chosen);
    g_assert_cmpfloat(dome__network_seconds(chosen, 0, 1, 8), ==, 0);
    dome__network_tour(chosen, order);
    g_assert_cmpint(order[0], ==, 0);
    dome__network_free(chosen);
    dome__network_free(network);
    g_rand_free(rand);
}

/* A network of which only the links of one host of each cluster are known. */
static void test_fill(void)
{
    GRand *rand = g_rand_new_with_seed(6);
    int is[MOST], found[MOST];
    dome_network *whole = in_clusters(rand, 20, 2, 10, 0.1, is), *part = nothing_known(20);
    int leader[2] = {-1, -1};
    for (int i = 19; i >= 0; i--)
        leader[is[i]] = i;
    for (int k = 0; k < 2; k++)
        for (int i = 0; i < 20; i++)
            if (i != leader[k])
                dome__network_enter(part, i, leader[k], whole->latency[i * 20 + leader[k]], whole->bandwidth[i * 20 + leader[k]],
                                    0);
    dome__network_fill(part);
    g_assert_null(dome__network_wrong(part));
    g_assert_cmpint(dome__network_clusters(part, found), ==, 2);
    check_same_partition(20, is, found);
    for (int a = 0; a < 20; a++)
        for (int b = 0; b < a; b++) {
            double ratio = dome__network_seconds(part, a, b, 1e5) / dome__network_seconds(whole, a, b, 1e5);
            g_assert_true(ratio > 0.7 && ratio < 1.4);
        }
    dome__network_free(part);
    dome__network_free(whole);
    g_rand_free(rand);
}

/* Rounds between two hosts of cluster 0, which is decided by their number alone. */
static void test_sharing(void)
{
    static const struct {
        double hindered, free;
        dome_sharing sharing;
    } cases[] = {{0, 0, DOME_SHARING_UNKNOWN},
                 {3, 0, DOME_SHARING_UNDECIDED},
                 {4, 0, DOME_SHARED},
                 {0, 4, DOME_SWITCHED},
                 {5, 1, DOME_SHARED},
                 {6, 2, DOME_SHARING_UNDECIDED},
                 {12, 7, DOME_SHARING_UNDECIDED},
                 {8, 2, DOME_SHARED},
                 {2, 9, DOME_SWITCHED}};
    int cluster[] = {0, 0, 0, 0, 1, 1};
    for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
        dome_network *network = nothing_known(6);
        dome__network_enter_rounds(network, 1, 3, MIN(cases[i].hindered, 2), cases[i].free);
        dome__network_enter_rounds(network, 0, 2, cases[i].hindered - MIN(cases[i].hindered, 2), 0);
        dome__network_enter_rounds(network, 4, 0, 7, 1);
        g_assert_cmpint(dome__network_sharing(network, cluster, 0, 0), ==, cases[i].sharing);
        g_assert_cmpint(dome__network_sharing(network, cluster, 0, 1), ==, DOME_SHARED);
        g_assert_cmpint(dome__network_sharing(network, cluster, 1, 0), ==, DOME_SHARED);
        g_assert_cmpint(dome__network_sharing(network, cluster, 1, 1), ==, DOME_SHARING_UNKNOWN);
        dome__network_free(network);
    }
}

static void test_wrong(void)
{
    static const double bad[] = {NAN, INFINITY, -1};
    dome_network *network = nothing_known(3);
    g_assert_null(dome__network_wrong(network));
    for (size_t i = 0; i < G_N_ELEMENTS(bad); i++) {
        dome__network_enter(network, 0, 1, 1e-4, bad[i], 0);
        g_assert_nonnull(dome__network_wrong(network));
        dome__network_enter(network, 0, 1, 1e-4, 1e8, bad[i]);
        g_assert_nonnull(dome__network_wrong(network));
    }
    dome__network_enter(network, 0, 1, 1e-4, 0, 0);
    g_assert_nonnull(dome__network_wrong(network));
    dome__network_enter(network, 0, 1, 1e-4, 1e8, 0);
    g_assert_null(dome__network_wrong(network));
    network->latency[1] = 2e-4;
    g_assert_nonnull(dome__network_wrong(network));
    network->latency[1] = 1e-4;
    g_free(network->names[2]);
    network->names[2] = g_strdup("host1");
    g_assert_nonnull(dome__network_wrong(network));
    dome__network_free(network);
}

/* ---- the ring ---- */

/* The shortest of all rings that continue order[0 ... place - 1]. */
static double by_force(const dome_network *network, int *order, int place)
{
    if (place == network->hosts)
        return dome__network_tour_seconds(network, order);
    double least = INFINITY;
    for (int i = place; i < network->hosts; i++) {
        int kept = order[i];
        order[i] = order[place];
        order[place] = kept;
        least = MIN(least, by_force(network, order, place + 1));
        order[place] = order[i];
        order[i] = kept;
    }
    return least;
}

static dome_network *any_network(GRand *rand, int hosts)
{
    dome_network *network = nothing_known(hosts);
    for (int a = 0; a < hosts; a++)
        for (int b = 0; b < a; b++)
            if (g_rand_int_range(rand, 0, 20) > 0)
                dome__network_enter(network, a, b, between(rand, 1e-5, 1e-2), between(rand, 1e6, 1e9), 0);
    return network;
}

static void check_permutation(int hosts, const int *order)
{
    bool seen[MOST] = {false};
    g_assert_cmpint(order[0], ==, 0);
    for (int i = 0; i < hosts; i++) {
        g_assert_cmpint(order[i], >=, 0);
        g_assert_cmpint(order[i], <, hosts);
        g_assert_false(seen[order[i]]);
        seen[order[i]] = true;
    }
}

static void test_tour_best(void)
{
    GRand *rand = g_rand_new_with_seed(7);
    for (int k = 0; k < TRIALS; k++) {
        int hosts = g_rand_int_range(rand, 1, 8), order[MOST], other[MOST];
        dome_network *network = any_network(rand, hosts);
        double seconds = dome__network_tour(network, order);
        for (int i = 0; i < hosts; i++)
            other[i] = i;
        check_permutation(hosts, order);
        g_assert_cmpfloat_with_epsilon(seconds, hosts > 1 ? by_force(network, other, 1) : 0, 1e-9);
        g_assert_cmpfloat_with_epsilon(dome__network_tour_seconds(network, order), seconds, 1e-9);
        dome__network_free(network);
    }
    g_rand_free(rand);
}

/* On a circle the best ring is known: the circle. */
static void test_tour_of_many(void)
{
    GRand *rand = g_rand_new_with_seed(8);
    for (int hosts = 11; hosts <= MOST; hosts += 7) {
        int place[MOST], order[MOST];
        dome_network *network = nothing_known(hosts);
        for (int i = 0; i < hosts; i++)
            place[i] = i;
        for (int i = hosts - 1; i > 0; i--) {
            int k = g_rand_int_range(rand, 0, i + 1), kept = place[i];
            place[i] = place[k];
            place[k] = kept;
        }
        for (int a = 0; a < hosts; a++)
            for (int b = 0; b < a; b++)
                dome__network_enter(network, a, b, fabs(sin(G_PI * (place[a] - place[b]) / hosts)), 1e30, 0);
        double seconds = dome__network_tour(network, order);
        check_permutation(hosts, order);
        g_assert_cmpfloat_with_epsilon(seconds, hosts * sin(G_PI / hosts), 1e-9);
        dome__network_free(network);
    }
    g_rand_free(rand);
}

/* The ring's time after the hosts in places first ... first + length - 1 have moved to behind the next `far` hosts, reversed or
 * not. */
static double seconds_moved(const dome_network *network, const int *order, int first, int length, int far, bool reversed)
{
    int n = network->hosts, moved[MOST], at = 0;
    for (int i = 0; i < far; i++)
        moved[at++] = order[(first + length + i) % n];
    for (int i = 0; i < length; i++)
        moved[at++] = order[(first + (reversed ? length - 1 - i : i)) % n];
    for (int i = length + far; i < n; i++)
        moved[at++] = order[(first + i) % n];
    return dome__network_tour_seconds(network, moved);
}

/* Neither reversing a part nor moving up to three hosts makes the ring shorter. */
static void test_tour_is_settled(void)
{
    GRand *rand = g_rand_new_with_seed(10);
    for (int k = 0; k < TRIALS / 10; k++) {
        int hosts = g_rand_int_range(rand, 11, 21), order[MOST];
        dome_network *network = any_network(rand, hosts);
        double seconds = dome__network_tour(network, order);
        for (int first = 0; first < hosts; first++)
            for (int length = 1; length < hosts; length++)
                for (int far = 0; far < (length <= 3 ? hosts - length : 1); far++)
                    for (int reversed = 0; reversed < 2; reversed++)
                        g_assert_cmpfloat(seconds_moved(network, order, first, length, far, reversed), >=, seconds * (1 - 1e-9));
        dome__network_free(network);
    }
    g_rand_free(rand);
}

/* The ring enters and leaves each cluster once. */
static void test_tour_by_clusters(void)
{
    GRand *rand = g_rand_new_with_seed(9);
    for (int k = 0; k < TRIALS / 4; k++) {
        int clusters = g_rand_int_range(rand, 2, 5), hosts = g_rand_int_range(rand, 2 * clusters, 25);
        int is[MOST], order[MOST], crossed = 0;
        dome_network *network = in_clusters(rand, hosts, clusters, 10, 0.2, is);
        dome__network_tour(network, order);
        for (int i = 0; i < hosts; i++)
            crossed += is[order[i]] != is[order[(i + 1) % hosts]];
        g_assert_cmpint(crossed, ==, clusters);
        dome__network_free(network);
    }
    g_rand_free(rand);
}

/* Hosts named in another order: the same clusters, a ring of the same time. */
static void test_order_of_hosts(void)
{
    GRand *rand = g_rand_new_with_seed(10);
    for (int k = 0; k < TRIALS / 4; k++) {
        int hosts = g_rand_int_range(rand, 6, 25), is[MOST], found[MOST], moved[MOST], back[MOST], order[MOST];
        dome_network *network = in_clusters(rand, hosts, 2, 5, 0.2, is);
        char *names[MOST + 1];
        memcpy(names, network->names, sizeof *names * (gsize)hosts);
        for (int i = hosts - 1; i > 0; i--) {
            int j = g_rand_int_range(rand, 0, i + 1);
            char *kept = names[i];
            names[i] = names[j];
            names[j] = kept;
        }
        dome_network *mixed = dome__network_select(network, hosts, names);
        dome__network_clusters(network, found);
        dome__network_clusters(mixed, moved);
        for (int i = 0; i < hosts; i++)
            back[i] = moved[dome__network_find(mixed, network->names[i])];
        check_same_partition(hosts, found, back);
        double one = dome__network_tour(network, order), other = dome__network_tour(mixed, order);
        g_assert_cmpfloat(fabs(one - other), <=, (hosts <= 10 ? 1e-9 : 0.02) * one);
        dome__network_free(mixed);
        dome__network_free(network);
    }
    g_rand_free(rand);
}

/* ---- files ---- */

static void check_equal(const dome_network *one, const dome_network *other)
{
    gsize bytes = (gsize)one->hosts * (gsize)one->hosts * sizeof(double);
    g_assert_cmpint(one->hosts, ==, other->hosts);
    g_assert_cmpint(one->measured, ==, other->measured);
    for (int i = 0; i < one->hosts; i++)
        g_assert_cmpstr(one->names[i], ==, other->names[i]);
    g_assert_cmpmem(one->latency, bytes, other->latency, bytes);
    g_assert_cmpmem(one->bandwidth, bytes, other->bandwidth, bytes);
    g_assert_cmpmem(one->crowded, bytes, other->crowded, bytes);
}

static void test_text(void)
{
    GRand *rand = g_rand_new_with_seed(11);
    for (int hosts = 1; hosts < 9; hosts++) {
        const char *reason;
        dome_network *network = any_network(rand, hosts);
        network->measured = 1763800000 + hosts;
        char *text = dome__network_text(network);
        dome_network *again = dome__network_parse(text, strlen(text), &reason);
        g_assert_nonnull(again);
        check_equal(network, again);
        dome__network_free(again);
        g_free(text);
        dome__network_free(network);
    }
    g_rand_free(rand);
}

/* Every byte changed, and every length. */
static void test_damaged_text(void)
{
    GRand *rand = g_rand_new_with_seed(12);
    dome_network *network = any_network(rand, 4);
    char *text = dome__network_text(network);
    size_t length = strlen(text);
    const char *reason;
    for (size_t i = 0; i < length; i++) {
        text[i] ^= 1;
        g_assert_null(dome__network_parse(text, length, &reason));
        text[i] ^= 1;
        g_assert_null(dome__network_parse(text, i, &reason));
    }
    g_free(text);
    dome__network_free(network);
    g_rand_free(rand);
}

typedef struct folder {
    char *cache, *path;
} folder;

static void folder_open(folder *f, const void *data)
{
    (void)data;
    f->cache = g_dir_make_tmp("dome-test-XXXXXX", NULL);
    f->path = g_build_filename(f->cache, "network", NULL);
    g_setenv(DOME_VARIABLE_CACHE, f->cache, TRUE);
}

static void folder_close(folder *f, const void *data)
{
    (void)data;
    dome__remove_directory(f->path);
    g_rmdir(f->cache);
    g_free(f->path);
    g_free(f->cache);
}

static char *write_good(const dome_network *network)
{
    char *message = NULL, *path = dome__network_write(network, &message);
    g_assert_cmpstr(message, ==, NULL);
    return path;
}

static dome_network *read_good(int hosts, char *const *names)
{
    char *note;
    dome_network *network = dome__network_read(hosts, names, &note);
    g_assert_cmpstr(note, ==, NULL);
    return network;
}

/* A file that an earlier version of the library has written. */
static void test_known(void)
{
    char *text;
    gsize length;
    const char *reason = NULL;
    g_assert_true(g_file_get_contents(DOME_SOURCE_DIR "/tests/data/networks/known.network", &text, &length, NULL));
    dome_network *network = dome__network_parse(text, length, &reason);
    g_assert_nonnull(network);
    g_assert_cmpint(network->hosts, ==, 3);
    g_assert_cmpstr(network->names[2], ==, "h3");
    g_assert_cmpfloat(network->latency[2 * 3 + 0], ==, 1.08735e-05);
    g_assert_cmpfloat(network->bandwidth[1 * 3 + 2], ==, 416893643.86643714);
    g_assert_cmpint(network->measured, ==, 1795715490);
    dome__network_free(network);
    g_free(text);
}

static void test_file(folder *f, const void *data)
{
    GRand *rand = g_rand_new_with_seed(13);
    int is[MOST];
    dome_network *network = in_clusters(rand, 6, 2, 10, 0.2, is), *newer = in_clusters(rand, 6, 2, 10, 0.2, is);
    char *mixed[] = {(char *)"host5", (char *)"host0", (char *)"late", (char *)"host2", NULL};
    char *others[] = {(char *)"a", (char *)"b", NULL};
    (void)f, (void)data;
    g_assert_null(read_good(6, network->names));
    network->measured = 1000;
    char *path = write_good(network);
    dome_network *again = read_good(6, network->names), *some = read_good(4, mixed);
    check_equal(network, again);
    g_assert_cmpfloat(dome__network_seconds(some, 0, 3, 8), ==, dome__network_seconds(network, 5, 2, 8));
    g_assert_cmpfloat(dome__network_seconds(some, 1, 2, 8), ==, 0);
    g_assert_null(read_good(2, others));
    dome__network_free(again);
    /* the same hosts in another order share the file */
    dome_network *turned = dome__network_new(
        6, (char *[]){newer->names[3], newer->names[1], newer->names[2], newer->names[0], newer->names[5], newer->names[4]});
    dome__network_enter(turned, 0, 1, 1, 1, 1);
    turned->measured = 2000;
    char *same = write_good(turned);
    g_assert_cmpstr(path, ==, same);
    again = read_good(6, network->names);
    g_assert_cmpint(again->measured, ==, 2000);
    g_assert_cmpfloat(dome__network_seconds(again, 3, 1, 0), ==, 1);
    dome__network_free(again);
    dome__network_free(turned);
    dome__network_free(some);
    dome__network_free(newer);
    dome__network_free(network);
    g_free(same);
    g_free(path);
    g_rand_free(rand);
}

static void test_damaged_file(folder *f, const void *data)
{
    GRand *rand = g_rand_new_with_seed(14);
    dome_network *few = any_network(rand, 3), *many = any_network(rand, 5);
    const char *reason;
    char *note, *path;
    (void)f, (void)data;
    g_free(write_good(many));
    path = write_good(few);
    g_assert_true(dome__file_replace(path, "# dome network, sha256 0\n", 0600, &reason));
    dome_network *found = dome__network_read(3, few->names, &note);
    g_assert_nonnull(strstr(note, path));
    g_assert_nonnull(strstr(note, "damaged"));
    g_assert_null(strchr(note, '\n'));
    g_assert_nonnull(found); /* the other file knows these hosts, too */
    dome__network_free(found);
    g_free(note);
    g_free(path);
    dome__network_free(few);
    dome__network_free(many);
    g_rand_free(rand);
}

/* Old files are removed when there are many, but not the new one, even if the clock was set back before each. */
static void test_many_files(folder *f, const void *data)
{
    char *one[] = {NULL, NULL};
    GDir *dir;
    int count = 0;
    (void)data;
    for (int i = 0; i < 30; i++) {
        one[0] = g_strdup_printf("only%d", i);
        dome_network *network = dome__network_new(1, one);
        char *path = write_good(network);
        g_assert_true(g_file_test(path, G_FILE_TEST_EXISTS));
        g_assert_cmpint(utimensat(AT_FDCWD, path, (struct timespec[]){{.tv_sec = INT32_MAX}, {.tv_sec = INT32_MAX}}, 0), ==, 0);
        g_free(path);
        dome__network_free(network);
        g_free(one[0]);
    }
    dir = g_dir_open(f->path, 0, NULL);
    while (g_dir_read_name(dir))
        count++;
    g_dir_close(dir);
    g_assert_cmpint(count, <, 30);
    g_assert_cmpint(count, >=, 10);
}

static void test_age(void)
{
    static const struct {
        int64_t measured, now;
        const char *text;
    } cases[] = {{1000, 1001, "1 second ago"},
                 {1000, 1000, "0 seconds ago"},
                 {1000, 1000 + 7300, "2 hours ago"},
                 {1000, 1000 + 31 * 86400, "31 days ago: old, dome net --again measures anew"},
                 {1000, 900, "at a time that is not known: the clock was changed since"}};
    dome_network *network = nothing_known(1);
    for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
        network->measured = cases[i].measured;
        char *text = dome__network_age(network, cases[i].now);
        g_assert_cmpstr(text, ==, cases[i].text);
        g_free(text);
    }
    dome__network_free(network);
}

/* ---- which links are measured ---- */

typedef struct simulated {
    const dome_network *is;
    int alone, silent; /* links measured so far; a host that does not answer, -1: none */
    bool measured[MOST * MOST];
    GRand *rand; /* NULL, or one in eight measurements is up to five times too small or too large */
} simulated;

static bool simulated_alone(void *ctx, int a, int b, double *latency, double *bandwidth)
{
    simulated *s = ctx;
    g_assert_cmpint(a, <, b);
    if (a == s->silent || b == s->silent)
        return false;
    double factor = s->rand && g_rand_double(s->rand) < 0.125 ? exp(between(s->rand, -1, 1) * log(5)) : 1;
    s->alone += !s->measured[a * MOST + b];
    s->measured[a * MOST + b] = true;
    *latency = s->is->latency[a * s->is->hosts + b] * factor;
    *bandwidth = s->is->bandwidth[a * s->is->hosts + b] / factor;
    return true;
}

static void simulated_together(void *ctx, int pairs, const int *pair, double *bandwidth)
{
    const simulated *s = ctx;
    bool used[MOST] = {false};
    for (int i = 0; i < 2 * pairs; i++) {
        g_assert_false(used[pair[i]]);
        used[pair[i]] = true;
        bandwidth[i / 2] = s->is->bandwidth[pair[i & ~1] * s->is->hosts + pair[i | 1]] / (pairs > 1 ? 2 : 1);
    }
}

static int hosts_in(const int *cluster, int hosts, int which)
{
    int count = 0;
    for (int i = 0; i < hosts; i++)
        count += cluster[i] == which;
    return count;
}

static void test_survey(void)
{
    GRand *rand = g_rand_new_with_seed(15);
    for (int hosts = 1; hosts <= MOST; hosts += hosts < 14 || g_test_slow() ? 1 : 10) {
        int clusters = hosts < 4 ? 1 : g_rand_int_range(rand, 1, 3 + (hosts > 24)), is[MOST], found[MOST], order[MOST];
        dome_network *real = in_clusters(rand, hosts, clusters, 8, 0.2, is), *network = nothing_known(hosts);
        simulated s = {.is = real, .silent = -1};
        const dome_probe probe = {&s, simulated_alone, simulated_together};
        g_assert_cmpint(dome__network_survey(network, &probe), ==, s.alone);
        g_assert_null(dome__network_wrong(network));
        if (hosts <= 12)
            g_assert_cmpint(s.alone, ==, hosts * (hosts - 1) / 2);
        else
            g_assert_cmpfloat(s.alone, <=, hosts * (log2(hosts) + 1));
        if (hosts >= 4) {
            g_assert_cmpint(dome__network_clusters(network, found), ==, clusters);
            check_same_partition(hosts, is, found);
            if (hosts <= 12)
                g_assert_cmpint(dome__network_sharing(network, found, 0, 0), ==,
                                hosts_in(found, hosts, 0) < 4 ? DOME_SHARING_UNKNOWN : DOME_SHARED);
            if (hosts <= 12 && clusters > 1)
                g_assert_cmpint(dome__network_sharing(network, found, 0, 1), ==, DOME_SHARED);
        }
        /* the ring from what was measured, against the ring from all links */
        dome__network_fill(network);
        dome__network_tour(network, order);
        double from_part = dome__network_tour_seconds(real, order), best = dome__network_tour(real, order);
        g_assert_cmpfloat(from_part, <=, best * (hosts <= 12 ? 1 + 1e-9 : 1.6));
        dome__network_free(network);
        dome__network_free(real);
    }
    g_rand_free(rand);
}

/* Other programs disturb one measurement in eight: the clusters are found nevertheless. */
static void test_survey_disturbed(void)
{
    GRand *rand = g_rand_new_with_seed(20);
    int wrong = 0, trials = 300;
    for (int k = 0; k < trials; k++) {
        int hosts = 6 + k % 7, is[MOST], found[MOST];
        dome_network *real = in_clusters(rand, hosts, 2, 8, 0.2, is), *network = nothing_known(hosts);
        simulated s = {.is = real, .silent = -1, .rand = rand};
        const dome_probe probe = {&s, simulated_alone, simulated_together};
        dome__network_survey(network, &probe);
        dome__network_clusters(network, found);
        wrong += !same_partition(hosts, is, found);
        dome__network_free(network);
        dome__network_free(real);
    }
    g_test_message("%d of %d wrong", wrong, trials);
    g_assert_cmpint(wrong, <=, trials / 20);
    g_rand_free(rand);
}

/* ---- a shared medium ---- */

/* What pairs have in one measurement: equal parts of a cable, or this part of what they have alone (1: a switch). Noise differs
 * from measurement to measurement, and sometimes one fails to show anything. */
enum { CABLE = 0 };
typedef struct medium {
    GRand *rand;
    double part;
    double noise, strange; /* of the logarithm; the part of measurements that is anything */
    int measured;
} medium;

static bool medium_alone(void *ctx, int a, int b, double *latency, double *bandwidth)
{
    const medium *m = ctx;
    (void)a, (void)b;
    *latency = 1e-4 * between(m->rand, 0.9, 1.1);
    *bandwidth = 1e7 * between(m->rand, 0.9, 1.1);
    return true;
}

static void medium_together(void *ctx, int pairs, const int *pair, double *bandwidth)
{
    medium *m = ctx;
    (void)pair;
    m->measured++;
    for (int i = 0; i < pairs; i++) {
        double sum = 0;
        for (int k = 0; k < 12; k++) /* nearly normal */
            sum += between(m->rand, -0.5, 0.5);
        bandwidth[i] = 1e7 * (pairs == 1 ? 1 : m->part > CABLE ? m->part : 1.0 / pairs) * exp(m->noise * sum);
        if (between(m->rand, 0, 1) < m->strange)
            bandwidth[i] = 1e7 * between(m->rand, 0.1, 2);
    }
}

static void test_medium(void)
{
    static const int hosts[] = {4, 5, 8, 12, 20};
    GRand *rand = g_rand_new_with_seed(18);
    int found[4] = {0}, wrong = 0, trials = 0, most = 0;
    for (int k = 0; k < 400; k++) {
        int n = hosts[k % (int)G_N_ELEMENTS(hosts)], cluster[MOST] = {0};
        medium m = {rand, k / 5 % 2 ? 1 : CABLE, 0.1, 0.1, 0};
        const dome_probe probe = {&m, medium_alone, medium_together};
        dome_network *network = nothing_known(n);
        dome__network_survey(network, &probe);
        dome_sharing sharing = dome__network_sharing(network, cluster, 0, 0);
        found[sharing]++;
        wrong += sharing == (m.part > CABLE ? DOME_SHARED : DOME_SWITCHED);
        trials++;
        most = MAX(most, m.measured);
        dome__network_free(network);
    }
    g_test_message("%d of %d wrong, %d undecided; at most %d measurements", wrong, trials, found[DOME_SHARING_UNDECIDED], most);
    g_assert_cmpint(wrong, ==, 0);
    g_assert_cmpint(found[DOME_SHARING_UNDECIDED], <=, trials / 20);
    g_assert_cmpint(found[DOME_SHARING_UNKNOWN], ==, 0);
    g_assert_cmpint(most, <, 60);
    g_rand_free(rand);
}

/* Rounds that show now this, now that: hardly ever a decision, and never without end. */
static void test_medium_unclear(void)
{
    GRand *rand = g_rand_new_with_seed(19);
    int decided = 0;
    for (int k = 0; k < 200; k++) {
        int cluster[MOST] = {0};
        medium m = {rand, 0.7, 0.3, 0.1, 0};
        const dome_probe probe = {&m, medium_alone, medium_together};
        dome_network *network = nothing_known(6);
        dome__network_survey(network, &probe);
        decided += dome__network_sharing(network, cluster, 0, 0) != DOME_SHARING_UNDECIDED;
        g_assert_cmpint(m.measured, <=, 5 + 2 * 20);
        dome__network_free(network);
    }
    g_test_message("%d of 200 decided", decided);
    g_assert_cmpint(decided, <, 60);
    g_rand_free(rand);
}

/* Links measured grow as n log n. */
static void test_survey_grows(void)
{
    GRand *rand = g_rand_new_with_seed(16);
    double before = 0;
    for (int hosts = 16; hosts <= MOST; hosts *= 2) {
        int is[MOST];
        dome_network *real = in_clusters(rand, hosts, 3, 8, 0.2, is), *network = nothing_known(hosts);
        simulated s = {.is = real, .silent = -1};
        const dome_probe probe = {&s, simulated_alone, simulated_together};
        double links = dome__network_survey(network, &probe), unit = hosts * log2(hosts);
        g_test_message("%d hosts: %g links of %d, %.2f n log2(n)", hosts, links, hosts * (hosts - 1) / 2, links / unit);
        g_assert_cmpfloat(links / unit, <=, 1.25);
        g_assert_true(before <= 0 || fabs(links / unit / before - 1) < 0.2);
        before = links / unit;
        dome__network_free(network);
        dome__network_free(real);
    }
    g_rand_free(rand);
}

/* A host that does not answer: all others are measured. */
static void test_survey_silent(void)
{
    GRand *rand = g_rand_new_with_seed(17);
    for (int hosts = 6; hosts <= 30; hosts += 24)
        for (int silent = 0; silent < hosts; silent += 5) {
            int is[MOST];
            dome_network *real = in_clusters(rand, hosts, 1, 1, 0.2, is), *network = nothing_known(hosts);
            simulated s = {.is = real, .silent = silent};
            const dome_probe probe = {&s, simulated_alone, simulated_together};
            g_assert_cmpint(dome__network_survey(network, &probe), ==, s.alone);
            for (int a = 0; a < hosts; a++) {
                int known = 0;
                for (int b = 0; b < hosts; b++)
                    known += network->bandwidth[a * hosts + b] > 0;
                g_assert_cmpint(known > 0, ==, a != silent);
            }
            dome__network_free(network);
            dome__network_free(real);
        }
    g_rand_free(rand);
}

static void test_rounds(void)
{
    for (int hosts = 2; hosts < 20; hosts++) {
        int met[20][20] = {{0}}, rounds = hosts - 1 + hosts % 2, pair[20];
        for (int round = 0; round < rounds; round++) {
            int pairs = dome__network_round(hosts, round, pair);
            g_assert_cmpint(pairs, ==, hosts / 2);
            for (int i = 0; i < pairs; i++)
                met[pair[2 * i]][pair[2 * i + 1]]++;
        }
        for (int a = 0; a < hosts; a++)
            for (int b = 0; b < hosts; b++)
                g_assert_cmpint(met[a][b], ==, a < b);
    }
}

/* ---- measuring, between processes ---- */

static void idle(void)
{
}

/* Before it waits for its second order: does nothing until it is killed. */
static void stop(void)
{
    static int orders;
    while (orders == 1)
        pause();
    orders++;
}

static void asking(void *ctx, int host)
{
    (void)ctx, (void)host;
}

/* Host `silent` (-1: none) meets the others and stops then. */
static int measure_task(dome_transport *t, void *ctx)
{
    int silent = *(const int *)ctx;
    if (t->group.rank == 0) {
        dome_network *network = nothing_known(t->group.size - 1);
        bool found[MOST] = {false};
        int links = dome__network_measure(t, network, asking, NULL, found), n = network->hosts, failed = 0;
        int there = silent < 0 ? n : n - 1;
        failed += links != there * (there - 1) / 2 || dome__network_wrong(network) || network->measured <= 0;
        for (int i = 0; i < n * n; i++) {
            int a = i / n, b = i % n;
            if (a != b && a != silent && b != silent)
                failed += !(network->bandwidth[i] > 0 && (n < 4 || network->crowded[i] > 0));
        }
        for (int i = 0; i < n; i++)
            failed += found[i] != (i == silent);
        dome__network_free(network);
        return failed;
    }
    if (t->group.rank == silent + 1)
        alarm(5);
    bool good = dome__network_obey(t, t->group.rank == silent + 1 ? stop : idle);
    return !good && silent < 0;
}

static void test_measure(void)
{
    int silent = -1;
    g_assert_cmpint(local_run(6, NULL, measure_task, &silent), ==, 0);
    g_assert_cmpint(local_run(3, (int[]){1, 2, 1}, measure_task, &silent), ==, 0);
    g_assert_cmpint(local_run(2, NULL, measure_task, &silent), ==, 0);
}

static void test_measure_silent(void)
{
    int silent = 2;
    g_assert_cmpint(local_run(5, NULL, measure_task, &silent), ==, 1); /* the silent one's own end */
}

/* A medium that all tasks send by, one piece after the other, in the order in which they ask; with a switch each has its own. It
 * is slow enough that a busy machine does not matter. */
typedef struct wire {
    bool cable;
    int late; /* the task that waits before it takes an order, -1: none */
    _Atomic unsigned next, serving;
} wire;

static wire *the_wire;

static int wire_send(dome_transport_provider *self, int dest, int channel, const dome_packet *packet)
{
    static const double BYTES_PER_US = 8;
    const uint64_t bytes = packet->bytes;
    if (bytes >= 4096) {
        unsigned mine = the_wire->cable ? the_wire->next++ : 0;
        while (the_wire->cable && the_wire->serving != mine)
            g_usleep(200);
        g_usleep((gulong)((double)bytes / BYTES_PER_US));
        the_wire->serving += the_wire->cable;
    }
    return local_send(self, dest, channel, packet);
}

/* This task begins each exchange a while after all others have begun theirs. */
static void come_late(void)
{
    g_usleep(80000);
}

static int wire_task(dome_transport *t, void *ctx)
{
    static dome_transport_ops ops;
    const dome_sharing *wanted = ctx;
    ops = *t->provider.ops;
    ops.send = wire_send;
    t->provider.ops = &ops;
    if (t->group.rank > 0)
        return !dome__network_obey(t, t->group.rank == the_wire->late ? come_late : idle);
    dome_network *network = nothing_known(t->group.size - 1);
    bool silent[MOST] = {false};
    int cluster[MOST] = {0};
    dome__network_measure(t, network, asking, NULL, silent);
    dome_sharing_votes votes = dome__network_votes(network, cluster, 0, 0);
    dome_sharing sharing = dome__network_sharing(network, cluster, 0, 0);
    bool wrong = sharing != *wanted && sharing != DOME_SHARING_UNDECIDED;
    if (wrong)
        fprintf(stderr, "%g rounds hindered, %g not\n", votes.hindered, votes.free);
    dome__network_free(network);
    return wrong;
}

/* Four hosts on one cable, or on a switch; one of them begins to send when a measurement by the clock would be over. Never is one
 * taken for the other; on a machine that other programs keep busy there may be no telling. */
static void test_measure_medium(void)
{
    the_wire = mmap(NULL, sizeof *the_wire, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    g_assert_true(the_wire != MAP_FAILED);
    for (int k = 0; k < 2; k++) {
        dome_sharing wanted = k == 0 ? DOME_SHARED : DOME_SWITCHED;
        *the_wire = (wire){.cable = k == 0, .late = k == 0 ? 3 : -1};
        g_assert_cmpint(local_run(5, NULL, wire_task, &wanted), ==, 0);
    }
    munmap(the_wire, sizeof *the_wire);
}

/* A link that lets some bytes pass at once after a pause; and a task that pauses in the first two messages of one piece. */
typedef struct limited {
    double bytes_per_us, most, left; /* of what passes at once: at most, now */
    uint64_t at;
    int pauses;
} limited;

static limited the_limit;

static int limited_send(dome_transport_provider *self, int dest, int channel, const dome_packet *packet)
{
    limited *l = &the_limit;
    const uint64_t bytes = packet->bytes;
    if (bytes == DOME_EXCHANGE_PIECE && l->pauses-- > 0)
        g_usleep(10000);
    if (bytes >= 4096) {
        uint64_t now = dome__now_ns();
        l->left = MIN(l->left + (double)(now - l->at) * 1e-3 * l->bytes_per_us, l->most) - (double)bytes;
        l->at = now;
        if (l->left < 0)
            g_usleep((gulong)(-l->left / l->bytes_per_us));
    }
    return local_send(self, dest, channel, packet);
}

static int limited_task(dome_transport *t, void *ctx)
{
    static dome_transport_ops ops;
    bool silent[MOST] = {false};
    (void)ctx;
    ops = *t->provider.ops;
    ops.send = limited_send;
    t->provider.ops = &ops;
    the_limit = (limited){.bytes_per_us = 4, .most = 65536, .left = 65536, .at = dome__now_ns(), .pauses = 2};
    if (t->group.rank > 0)
        return !dome__network_obey(t, idle);
    dome_network *network = nothing_known(t->group.size - 1);
    dome__network_measure(t, network, asking, NULL, silent);
    /* Half of a message passes at once, at most. */
    bool wrong = !(network->bandwidth[1] > 0 && network->bandwidth[1] < 3e6 * the_limit.bytes_per_us);
    if (wrong)
        fprintf(stderr, "%g MB/s, of %g\n", network->bandwidth[1] * 1e-6, the_limit.bytes_per_us);
    dome__network_free(network);
    return wrong;
}

/* Pauses of a busy machine do not make a message look long enough. */
static void test_measure_pauses(void)
{
    g_assert_cmpint(local_run(3, NULL, limited_task, NULL), ==, 0);
}

/* ---- at a program's start ---- */

static int share_task(dome_transport *t, void *ctx)
{
    static char *const host[] = {(char *)"a", (char *)"a", (char *)"b", (char *)"c", (char *)"b", (char *)"d"};
    bool known = ctx != NULL;
    char *names[] = {(char *)"a", (char *)"c", (char *)"b", NULL};
    dome_network *network = known && t->group.rank == 0 ? dome__network_new(3, names) : NULL;
    if (network) {
        dome__network_enter(network, 1, 2, 0.5, 8, 2);
        network->measured = 77;
    }
    if (dome__network_share(t, host, &network))
        return 1;
    int failed = !network || network->hosts != 4 || dome__network_wrong(network) != NULL;
    double first[16] = {0}; /* all tasks know what task 0 does */
    if (!failed)
        memcpy(first, network->bandwidth, sizeof first);
    failed += dome__bcast(t, 0, DOME_F64, first, 16);
    failed = failed || memcmp(first, network->bandwidth, sizeof first) != 0;
    failed += !failed && known && (network->measured != 77 || dome__network_seconds(network, 2, 1, 8) < 1.5);
    dome__network_free(network);
    return failed;
}

static int share_two(dome_transport *t, void *ctx)
{
    static char *const host[] = {(char *)"a", (char *)"b", (char *)"a"};
    dome_network *network = NULL;
    (void)ctx;
    return dome__network_share(t, host, &network) || network != NULL;
}

static void test_share(void)
{
    int known = 1;
    g_assert_cmpint(local_run(6, NULL, share_task, NULL), ==, 0);
    g_assert_cmpint(local_run(6, NULL, share_task, &known), ==, 0);
    g_assert_cmpint(local_run(3, NULL, share_two, NULL), ==, 0);
    g_assert_cmpint(local_run(1, NULL, share_two, NULL), ==, 0);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/network/clusters/found", test_clusters_found);
    g_test_add_func("/network/clusters/numbered", test_numbered_by_first_host);
    g_test_add_func("/network/clusters/slow-host", test_slow_host);
    g_test_add_func("/network/clusters/burst", test_burst);
    g_test_add_func("/network/few", test_few);
    g_test_add_func("/network/select", test_select);
    g_test_add_func("/network/fill", test_fill);
    g_test_add_func("/network/sharing", test_sharing);
    g_test_add_func("/network/wrong", test_wrong);
    g_test_add_func("/network/tour/best", test_tour_best);
    g_test_add_func("/network/tour/many", test_tour_of_many);
    g_test_add_func("/network/tour/settled", test_tour_is_settled);
    g_test_add_func("/network/tour/clusters", test_tour_by_clusters);
    g_test_add_func("/network/order", test_order_of_hosts);
    g_test_add_func("/network/file/text", test_text);
    g_test_add_func("/network/file/damaged-text", test_damaged_text);
    g_test_add("/network/file/written", folder, NULL, folder_open, test_file, folder_close);
    g_test_add("/network/file/damaged", folder, NULL, folder_open, test_damaged_file, folder_close);
    g_test_add("/network/file/many", folder, NULL, folder_open, test_many_files, folder_close);
    g_test_add_func("/network/file/age", test_age);
    g_test_add_func("/network/file/known", test_known);
    g_test_add_func("/network/survey/clusters", test_survey);
    g_test_add_func("/network/survey/medium", test_medium);
    g_test_add_func("/network/survey/medium-unclear", test_medium_unclear);
    g_test_add_func("/network/survey/grows", test_survey_grows);
    g_test_add_func("/network/survey/disturbed", test_survey_disturbed);
    g_test_add_func("/network/survey/silent", test_survey_silent);
    g_test_add_func("/network/survey/rounds", test_rounds);
    g_test_add_func("/network/measure/all", test_measure);
    g_test_add_func("/network/measure/silent", test_measure_silent);
    g_test_add_func("/network/measure/pauses", test_measure_pauses);
    g_test_add_func("/network/measure/medium", test_measure_medium);
    g_test_add_func("/network/share", test_share);
    return g_test_run();
}
