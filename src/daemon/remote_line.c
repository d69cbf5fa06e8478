#include "daemon/remote_line.h"

#include "system/entropy.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

char *dome__remote_seal(dome_mac *mac, const dome_record *record)
{
    uint8_t code[DOME_MAC_BYTES];
    char *line = dome__record_line(record);
    GString *text = g_string_new(NULL);
    dome__mac_next(mac, line, strlen(line), code);
    for (size_t i = 0; i < sizeof code; i++)
        g_string_append_printf(text, "%02x", code[i]);
    g_string_append_printf(text, " %s\n", line);
    g_free(line);
    return g_string_free(text, FALSE);
}

bool dome__remote_open(dome_mac *mac, const char *line, size_t length, dome_record *record)
{
    uint8_t code[DOME_MAC_BYTES];
    if (length <= DOME_REMOTE_HEAD || line[DOME_REMOTE_HEAD - 1] != ' ')
        return false;
    for (size_t i = 0; i < sizeof code; i++) {
        const int high = g_ascii_xdigit_value(line[2 * i]), low = g_ascii_xdigit_value(line[2 * i + 1]);
        if (high < 0 || low < 0)
            return false;
        code[i] = (uint8_t)(high * 16 + low);
    }
    return dome__mac_check(mac, line + DOME_REMOTE_HEAD, length - DOME_REMOTE_HEAD, code) &&
           dome__record_parse(line + DOME_REMOTE_HEAD, length - DOME_REMOTE_HEAD, record);
}

char *dome__remote_key(const char *path, size_t *length, char **message)
{
    enum { KEY_MOST = 4096 };
    char *key = g_malloc(KEY_MOST);
    struct stat s;
    const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    const ssize_t n = fd >= 0 && fstat(fd, &s) == 0 && S_ISREG(s.st_mode) ? read(fd, key, KEY_MOST) : -1;
    if (n < 0)
        *message = g_strdup_printf("the key %s cannot be read: %s", path, fd < 0 || errno ? g_strerror(errno) : "it is no file");
    else if (s.st_uid != geteuid() || (s.st_mode & 077))
        *message = g_strdup_printf("the key %s must be of the daemon's user alone (chmod 600)", path);
    else if (n < DOME_REMOTE_KEY)
        *message = g_strdup_printf("the key %s has %zd bytes, and needs %d: head -c %d /dev/urandom", path, n, DOME_REMOTE_KEY,
                                   DOME_REMOTE_KEY);
    if (fd >= 0)
        close(fd);
    *length = (size_t)MAX(n, 0);
    if (*message)
        g_clear_pointer(&key, g_free);
    return key;
}

/* The file is whole when it gets its name. */
bool dome__remote_key_make(const char *path)
{
    char key[DOME_REMOTE_KEY], *fresh = g_strdup_printf("%s.%d", path, (int)getpid());
    const int fd = open(fresh, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
    bool made = fd >= 0 && dome__random(key, sizeof key) && write(fd, key, sizeof key) == (ssize_t)sizeof key && fsync(fd) == 0;
    if (fd >= 0)
        close(fd);
    made = made && link(fresh, path) == 0;
    if (fd >= 0)
        unlink(fresh);
    g_free(fresh);
    return made;
}

bool dome__remote_address(const char *text, char **host, int *port)
{
    const char *colon = strrchr(text, ':'), *bracket = strchr(text, ']');
    gint64 number = DOME_REMOTE_PORT;
    if (colon && bracket && colon < bracket)
        colon = NULL;
    if (colon && !g_ascii_string_to_signed(colon + 1, 10, 1, 65535, &number, NULL))
        return false;
    *port = (int)number;
    char *name = colon ? g_strndup(text, (gsize)(colon - text)) : g_strdup(text);
    const size_t n = strlen(name);
    *host = name[0] == '[' && n > 2 && name[n - 1] == ']' ? g_strndup(name + 1, n - 2) : g_strdup(name);
    g_free(name);
    if (**host)
        return true;
    g_clear_pointer(host, g_free);
    return false;
}
