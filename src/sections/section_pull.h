/* Sections that are too many for one message: asked for in parts. */
#ifndef DOME_SRC_SECTION_PULL_H
#define DOME_SRC_SECTION_PULL_H

#include "peer/peer.h"
#include "sections/section_log.h"

enum { DOME_SECTION_ASK_HEAD = 16, DOME_SECTION_ASK = DOME_SECTION_ASK_HEAD + 4 * 8, DOME_SECTION_PART = 1 << 19 };

typedef struct dome_section_pull {
    dome_peer *peer;
    dome_peer_tag tag;
    int from;                            /* who has them */
    uint8_t head[DOME_SECTION_ASK_HEAD]; /* with which the questions begin */
    uint64_t have;                       /* the sections behind this number */
    /* Called once, in the channel's thread, with their bytes. Not if the task is lost: this process then goes back or ends. */
    void (*come)(void *ctx, const void *bytes, size_t count);
    void *ctx;
} dome_section_pull;

/* Begins to ask; any thread may call it, and nobody waits. */
void dome__section_pull(const dome_section_pull *pull);

/* Answers such a question of DOME_SECTION_ASK bytes. */
void dome__section_pull_reply(const dome_section_log *log, const dome_peer_request *question);

#endif
