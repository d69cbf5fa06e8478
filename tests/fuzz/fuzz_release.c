/* What other tasks say about memory with release consistency, and about the token: whatever arrives is ignored, or changes the
 * memory that it is about and nothing else. The input is a row of messages: one byte (bit 0: about the token; bits 1-2: from
 * which task), two of length, the message. */
#include "core/environment.h"
#include "peer/peer_private.h"
#include "region/member.h"
#include "region/release.h"
#include "space/token.h"
#include "transport/transport.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { TASKS = 3, UNITS = 8, HEAD = 3 };

static dome_env env;

/* No other task can be reached, so answers go nowhere. */
static void begin(void)
{
    static dome_transport transport;
    static dome_member_table members;
    static uint16_t of[TASKS];
    static dome_peer_place nowhere[2 * TASKS];
    const dome_peer_setup setup = {.size = TASKS, .purpose = "fuzzer", .listening = {-1, -1}, .places = nowhere, .patience = 1};
    members.count = 1;
    members.of = of;
    env = (dome_env){.size = TASKS, .transport = &transport};
    env.lazy.members = &members;
    env.peer = dome__peer_new(&setup);
    if (!env.peer)
        abort();
}

static dome_release_units *make(dome_release *release, dome_memory *memory, int home)
{
    const char *why = NULL;
    const uint64_t page = dome__memory_page(memory);
    dome_release_units *units = dome__release_units_make(&(dome_release_setup){.release = release,
                                                                               .what = "memory",
                                                                               .memory = memory,
                                                                               .type = DOME_U8,
                                                                               .element = 1,
                                                                               .atom = 1,
                                                                               .home = home,
                                                                               .unit = page,
                                                                               .units = UNITS},
                                                         &why);
    if (!units)
        abort();
    return units;
}

static dome_memory *new_memory(void)
{
    const char *why;
    dome_memory *memory = dome__memory_new("fuzzer", (uint64_t)UNITS * 4096, &why);
    if (!memory)
        abort();
    return memory;
}

/* As the channel's thread does. */
static void hand_over(int tag, int from, const uint8_t *message, size_t bytes)
{
    uint8_t *copy = g_memdup2(message, bytes); /* what is behind it is noticed */
    const dome_peer_request request = {.peer = env.peer, .from = from, .id = 1, .data = copy, .bytes = (uint32_t)bytes};
    env.peer->handlers[tag].handler(env.peer->handlers[tag].ctx, &request);
    g_free(copy);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (!env.peer)
        begin();
    dome_release *release = dome__release_new(&env);
    dome_token *token = dome__token_new(&env, release, NULL);
    dome_memory *memory[2] = {new_memory(), new_memory()};
    dome_release_units *units[2] = {make(release, memory[0], 0), make(release, memory[1], 1)};
    const uint8_t *at = data, *end = data + size;
    while (end - at >= HEAD) {
        const size_t wanted = at[1] | (size_t)at[2] << 8, bytes = MIN(wanted, (size_t)(end - at) - HEAD);
        const int from = 1 + (at[0] >> 1 & 1);
        if (bytes > 0)
            hand_over(at[0] & 1 ? DOME_PEER_SPACE : DOME_PEER_RELEASE, from, at + HEAD, bytes);
        at += HEAD + bytes;
    }
    dome__peer_on(env.peer, DOME_PEER_SPACE, NULL, NULL);
    dome__peer_on(env.peer, DOME_PEER_RELEASE, NULL, NULL);
    dome__token_free(token);
    for (int k = 0; k < 2; k++) {
        dome__release_units_free(units[k]);
        dome__memory_free(memory[k]);
    }
    dome__release_free(release);
    return 0;
}
