/* The daemon's lines and its table on arbitrary bytes: no crash; what is read means the same once written; any line may be an
 * order, after which the table is still one. None is a line of another host's daemon. */
#include "daemon/remote_line.h"
#include "daemon/table.h"

#include <glib.h>
#include <stdlib.h>
#include <string.h>

static void require(bool condition)
{
    if (!condition)
        abort();
}

static void check_table(const dome_table *table)
{
    char *text = dome__table_text(table), *message = NULL;
    dome_table *same = dome__table_read(text, &message);
    require(same != NULL);
    char *again = dome__table_text(same);
    require(strcmp(text, again) == 0);
    g_free(again);
    g_free(text);
    dome__table_free(same);
}

static void check_line(dome_table *table, const char *line, size_t length)
{
    static const uint8_t key[DOME_MAC_KEY] = "0123456789abcde";
    dome_record record, same;
    dome_mac mac = dome__mac_of(key);
    require(!dome__remote_open(&mac, line, length, &record));
    if (!dome__record_parse(line, length, &record))
        return;
    char *text = dome__record_line(&record);
    require(strlen(text) > DOME_RECORD_MOST || dome__record_parse(text, strlen(text), &same));
    if (strlen(text) <= DOME_RECORD_MOST) {
        require(same.pairs->len == record.pairs->len && strcmp(same.verb, record.verb) == 0);
        dome__record_clear(&same);
    }
    mac = dome__mac_of(key);
    char *sealed = dome__remote_seal(&mac, &record);
    mac = dome__mac_of(key);
    if (strlen(text) <= DOME_RECORD_MOST) {
        require(dome__remote_open(&mac, sealed, strlen(sealed) - 1, &same));
        dome__record_clear(&same);
    }
    g_free(sealed);
    char *answer = dome__table_apply(table, &record);
    require(g_str_has_prefix(answer, "done") || g_str_has_prefix(answer, "no "));
    g_free(answer);
    g_free(text);
    dome__record_clear(&record);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = g_strndup((const char *)data, size), *message = NULL;
    dome_table *table = dome__table_read(text, &message);
    require(table || message);
    g_free(message);
    if (!table)
        table = dome__table_new();
    for (const char *at = (const char *)data, *end = at + size; at < end;) {
        const char *stop = memchr(at, '\n', (size_t)(end - at));
        const size_t length = (size_t)((stop ? stop : end) - at);
        check_line(table, at, length);
        at += length + 1;
    }
    check_table(table);
    dome__table_free(table);
    g_free(text);
    return 0;
}
