#include "network/network_file.h"

#include "system/files.h"
#include "system/io.h"
#include "system/own_folder.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { FORMAT = 1, HASH_LENGTH = 64, MOST_FILES = 20 };

/* The longest file: all links of some hundred hosts, or those that are measured of DOME_NETWORK_HOSTS. */
static const size_t MOST_BYTES = 16 << 20;

static const char FIRST[] = "# dome network, sha256 ", GROUP[] = "network", LINKS[] = "links", ROUNDS[] = "rounds",
                  SUFFIX[] = ".network";

/* ---- the text ---- */

static GKeyFile *keys_of(const dome_network *network)
{
    GKeyFile *keys = g_key_file_new();
    int n = network->hosts;
    g_key_file_set_integer(keys, GROUP, "format", FORMAT);
    g_key_file_set_int64(keys, GROUP, "measured", network->measured);
    g_key_file_set_string_list(keys, GROUP, "hosts", (const char *const *)network->names, (gsize)n);
    for (int a = 0; a < n; a++)
        for (int b = 0; b < a; b++) {
            int link = a * n + b;
            char *name = g_strdup_printf("%d-%d", a, b);
            double numbers[] = {network->latency[link], network->bandwidth[link], network->crowded[link]};
            double rounds[] = {network->hindered[link], network->free[link]};
            if (numbers[1] > 0)
                g_key_file_set_double_list(keys, LINKS, name, numbers, G_N_ELEMENTS(numbers));
            if (numbers[1] > 0 && rounds[0] + rounds[1] > 0)
                g_key_file_set_double_list(keys, ROUNDS, name, rounds, G_N_ELEMENTS(rounds));
            g_free(name);
        }
    return keys;
}

char *dome__network_text(const dome_network *network)
{
    GKeyFile *keys = keys_of(network);
    char *body = g_key_file_to_data(keys, NULL, NULL), *hash = g_compute_checksum_for_string(G_CHECKSUM_SHA256, body, -1);
    char *text = g_strconcat(FIRST, hash, "\n", body, NULL);
    g_free(hash);
    g_free(body);
    g_key_file_free(keys);
    return text;
}

/* The text after the first line if its checksum is right; else NULL. */
static const char *checked_body(const char *text, size_t length)
{
    size_t first = strlen(FIRST) + HASH_LENGTH + 1;
    if (length < first || memcmp(text, FIRST, strlen(FIRST)) != 0 || text[first - 1] != '\n' || memchr(text, 0, length))
        return NULL;
    char *hash = g_compute_checksum_for_data(G_CHECKSUM_SHA256, (const guchar *)text + first, length - first);
    bool good = memcmp(hash, text + strlen(FIRST), HASH_LENGTH) == 0;
    g_free(hash);
    return good ? text + first : NULL;
}

/* Older files have no rounds. */
static bool take_rounds(dome_network *network, GKeyFile *keys, const char *name, int a, int b)
{
    gsize count = 0;
    double *numbers = g_key_file_get_double_list(keys, ROUNDS, name, &count, NULL);
    bool good = !numbers || count == 2;
    if (numbers && good)
        dome__network_enter_rounds(network, a, b, numbers[0], numbers[1]);
    g_free(numbers);
    return good;
}

static bool take_link(dome_network *network, GKeyFile *keys, const char *name)
{
    gsize count = 0;
    char *end = NULL;
    guint64 a = g_ascii_strtoull(name, &end, 10), b = *end == '-' ? g_ascii_strtoull(end + 1, &end, 10) : a;
    double *numbers = g_key_file_get_double_list(keys, LINKS, name, &count, NULL);
    bool good = numbers && count == 3 && !*end && b < a && a < (guint64)network->hosts && numbers[0] > 0 && numbers[1] > 0;
    if (good)
        dome__network_enter(network, (int)a, (int)b, numbers[0], numbers[1], numbers[2]);
    good = good && take_rounds(network, keys, name, (int)a, (int)b);
    g_free(numbers);
    return good;
}

static dome_network *take_network(GKeyFile *keys)
{
    gsize hosts = 0;
    char **names = g_key_file_get_string_list(keys, GROUP, "hosts", &hosts, NULL);
    char **links = g_key_file_get_keys(keys, LINKS, NULL, NULL); /* NULL: there are none */
    dome_network *network = names && hosts && hosts <= DOME_NETWORK_HOSTS ? dome__network_new((int)hosts, names) : NULL;
    bool good = network != NULL;
    if (good)
        network->measured = g_key_file_get_int64(keys, GROUP, "measured", NULL);
    for (char **link = links; good && link && *link; link++)
        good = take_link(network, keys, *link);
    if (network && (!good || dome__network_wrong(network)))
        g_clear_pointer(&network, dome__network_free);
    g_strfreev(links);
    g_strfreev(names);
    return network;
}

dome_network *dome__network_parse(const char *text, size_t length, const char **reason)
{
    const char *body = checked_body(text, length);
    GKeyFile *keys = g_key_file_new();
    dome_network *network = NULL;
    *reason = "it is damaged";
    if (body && g_key_file_load_from_data(keys, body, length - (size_t)(body - text), G_KEY_FILE_NONE, NULL)) {
        if (g_key_file_get_integer(keys, GROUP, "format", NULL) != FORMAT)
            *reason = "another version of Dome wrote it";
        else
            network = take_network(keys);
    }
    g_key_file_free(keys);
    return network;
}

/* ---- files ---- */

static char *folder_path(void)
{
    char *cache = dome__cache_path(), *path = g_build_filename(cache, "network", NULL);
    g_free(cache);
    return path;
}

static int compare_names(const void *one, const void *other)
{
    return strcmp(*(char *const *)one, *(char *const *)other);
}

/* The same for any order of the hosts. */
static char *file_name(int hosts, char *const *of)
{
    char **names = g_new0(char *, hosts + 1);
    for (int i = 0; i < hosts; i++)
        names[i] = g_strdup(of[i]);
    qsort(names, (size_t)hosts, sizeof *names, compare_names);
    char *all = g_strjoinv("\n", names), *hash = g_compute_checksum_for_string(G_CHECKSUM_SHA256, all, -1);
    char *name = g_strconcat(hash, SUFFIX, NULL);
    g_free(hash);
    g_free(all);
    g_strfreev(names);
    return name;
}

/* Several processes may write the same file at once: the last one's stays. */
static bool write_file(const char *path, const char *text)
{
    dome_new_file file;
    dome_file_limit limit;
    dome__file_limit_begin(&limit);
    int fd = dome__new_file_begin(&file, path, 0600, false);
    bool good = fd >= 0 && dome__io_write(fd, text, strlen(text)) && dome__new_file_place(&file);
    int error = errno;
    dome__new_file_end(&file);
    dome__file_limit_end(&limit);
    errno = error;
    return good;
}

/* The names of the files in the folder; the least recently written ones beyond the limit are removed, but not `keep` (may be
 * NULL): the clock may have been set back since the others were written. */
static GPtrArray *list_files(int folder, const char *keep)
{
    GPtrArray *names = g_ptr_array_new_with_free_func(g_free);
    DIR *dir = dome__folder_list(folder);
    for (const struct dirent *e; dir && (e = readdir(dir));)
        if (g_str_has_suffix(e->d_name, SUFFIX))
            g_ptr_array_add(names, g_strdup(e->d_name));
    if (dir)
        closedir(dir);
    while (names->len > MOST_FILES) {
        guint oldest = names->len;
        time_t when = 0;
        for (guint i = 0; i < names->len; i++) {
            struct stat s = {0};
            if (g_strcmp0(names->pdata[i], keep) == 0)
                continue;
            if (fstatat(folder, names->pdata[i], &s, AT_SYMLINK_NOFOLLOW) < 0 || oldest == names->len || s.st_mtime < when) {
                oldest = i;
                when = s.st_mtime;
            }
        }
        unlinkat(folder, names->pdata[oldest], 0);
        g_ptr_array_remove_index_fast(names, oldest);
    }
    return names;
}

char *dome__network_write(const dome_network *network, char **message)
{
    char *why = NULL, *parent = folder_path(), *name = file_name(network->hosts, network->names),
         *path = g_build_filename(parent, name, NULL);
    int folder = dome__own_folder(parent, &why);
    if (folder >= 0) {
        char *text = dome__network_text(network);
        if (!write_file(path, text))
            why = g_strdup_printf("%s: %s", path, dome__file_error(errno));
        else
            g_ptr_array_unref(list_files(folder, name));
        g_free(text);
        close(folder);
    }
    if (why)
        *message = g_strdup_printf("the network is not kept: %s", why);
    if (why)
        g_clear_pointer(&path, g_free);
    g_free(why);
    g_free(name);
    g_free(parent);
    return path;
}

static int known_links(const dome_network *network)
{
    int count = 0;
    for (int i = 0; i < network->hosts * network->hosts; i++)
        count += network->bandwidth[i] > 0;
    return count;
}

/* Reads a file; NULL with *note if it is of no use. */
static dome_network *read_file(const char *path, char **note)
{
    const char *reason = NULL;
    char *text = dome__file_read(path, MOST_BYTES, &reason);
    dome_network *network = text ? dome__network_parse(text, strlen(text), &reason) : NULL;
    if (!network && !*note)
        *note = g_strdup_printf("%s is not used: %s (rm it; dome net writes a new one)", path, reason);
    g_free(text);
    return network;
}

/* Prefers the network that knows more, then the newer one. Frees the other. */
static dome_network *better_of(dome_network *one, dome_network *other)
{
    int known = one ? known_links(one) : 0, more = known_links(other);
    bool better = more > known || (one && more == known && other->measured > one->measured);
    dome__network_free(better ? one : other);
    return better ? other : one;
}

/* The file of exactly these hosts, if it is good; else the best of all. */
static dome_network *read_best(const char *parent, int folder, int hosts, char *const *names, char **note)
{
    char *exact = file_name(hosts, names);
    GPtrArray *files = list_files(folder, NULL);
    dome_network *best = NULL;
    for (int only = 1; only >= 0 && !best; only--)
        for (guint i = 0; i < files->len; i++) {
            if ((strcmp(files->pdata[i], exact) == 0) != only)
                continue;
            char *path = g_build_filename(parent, files->pdata[i], NULL);
            dome_network *whole = read_file(path, note);
            if (whole)
                best = better_of(best, dome__network_select(whole, hosts, names));
            dome__network_free(whole);
            g_free(path);
        }
    g_ptr_array_unref(files);
    g_free(exact);
    return best;
}

dome_network *dome__network_read(int hosts, char *const *names, char **note)
{
    char *why = NULL, *parent = folder_path();
    dome_network *best = NULL;
    *note = NULL;
    int folder = access(parent, F_OK) == 0 ? dome__own_folder(parent, &why) : -1;
    if (folder >= 0) {
        best = read_best(parent, folder, hosts, names, note);
        close(folder);
    } else if (why) {
        *note = g_strdup_printf("measured networks are not used: %s", why);
    }
    g_free(why);
    g_free(parent);
    return best;
}

/* ---- age ---- */

char *dome__network_age(const dome_network *network, int64_t now)
{
    static const struct {
        int64_t seconds;
        const char *name;
    } units[] = {{24 * 3600, "day"}, {3600, "hour"}, {60, "minute"}, {1, "second"}};
    int64_t age = now - network->measured;
    if (network->measured <= 0 || age < 0)
        return g_strdup("at a time that is not known: the clock was changed since");
    size_t unit = 0;
    while (unit + 1 < G_N_ELEMENTS(units) && age < units[unit].seconds)
        unit++;
    int64_t count = age / units[unit].seconds;
    return g_strdup_printf("%" G_GINT64_FORMAT " %s%s ago%s", count, units[unit].name, count == 1 ? "" : "s",
                           age > DOME_NETWORK_OLD ? ": old, dome net --again measures anew" : "");
}
