/* The reader of measured networks on arbitrary bytes: no crash, and what it accepts is valid and means the same once written. The
 * input is the text after the first line, whose checksum is made here: fuzzing would not find it. */
#include "network/network_file.h"

#include <glib.h>
#include <stdlib.h>
#include <string.h>

static void require(bool condition)
{
    if (!condition)
        abort();
}

static void check(const char *text, size_t length)
{
    const char *reason = NULL;
    dome_network *network = dome__network_parse(text, length, &reason);
    if (!network) {
        require(reason != NULL);
        return;
    }
    require(!dome__network_wrong(network) && network->hosts <= DOME_NETWORK_HOSTS);
    char *again = dome__network_text(network);
    dome_network *same = dome__network_parse(again, strlen(again), &reason);
    require(same && same->hosts == network->hosts && same->measured == network->measured);
    size_t bytes = (size_t)network->hosts * (size_t)network->hosts * sizeof(double);
    require(memcmp(same->latency, network->latency, bytes) == 0 && memcmp(same->bandwidth, network->bandwidth, bytes) == 0);
    if (network->hosts <= 16) {
        int numbers[16];
        dome__network_fill(network);
        require(!dome__network_wrong(network));
        require(dome__network_clusters(network, numbers) <= network->hosts);
        require(dome__network_tour(network, numbers) >= 0);
    }
    dome__network_free(same);
    dome__network_free(network);
    g_free(again);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *hash = g_compute_checksum_for_data(G_CHECKSUM_SHA256, data, size);
    GString *text = g_string_new("# dome network, sha256 ");
    g_string_append_printf(text, "%s\n", hash);
    g_string_append_len(text, (const char *)data, (gssize)size);
    check(text->str, text->len);
    check((const char *)data, size);
    g_string_free(text, TRUE);
    g_free(hash);
    return 0;
}
