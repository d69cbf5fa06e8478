/* How two processes that know a program's cookie prove it to each other over a TCP connection, without showing it:
 *
 *     who connects                    who listens
 *     nonce                 ------->
 *                           <-------  nonce, proof
 *     word, proof           ------->
 *
 * A proof is an HMAC-SHA256, with the cookie as its key, of the purpose, the side that proves, the address and port of the side
 * that listens, both nonces and the word. So neither a message of an earlier connection nor the other side's own proof serves as
 * one, and a stranger in between who listens at an address of his own cannot pass messages on. The word is a number that the
 * connecting side tells, e.g. its rank. Until the proof has come a stranger is good for no more than the few bytes of this
 * struct. */
#ifndef DOME_SRC_HANDSHAKE_H
#define DOME_SRC_HANDSHAKE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { DOME_HANDSHAKE_NONCE = 16, DOME_HANDSHAKE_PROOF = 32 };

/* Seconds that a task of the program may take for it. */
enum { DOME_HANDSHAKE_PATIENCE = 5 };

typedef enum dome_handshake_state {
    DOME_HANDSHAKE_MORE,  /* the other side's next message has not come */
    DOME_HANDSHAKE_DONE,  /* the other side has proven that it knows the cookie */
    DOME_HANDSHAKE_FAILED /* it has not, or is gone */
} dome_handshake_state;

typedef struct dome_handshake {
    const char *purpose;
    const void *cookie;
    size_t cookie_length;
    bool connects;
    uint32_t word; /* of the connecting side; on the other side: once it is done */
    bool begun;
    uint8_t nonces[2][DOME_HANDSHAKE_NONCE]; /* of who connects, of who listens */
    uint8_t in[DOME_HANDSHAKE_NONCE + DOME_HANDSHAKE_PROOF];
    size_t have;
} dome_handshake;

/* purpose and cookie must live on. connects: this side has connected and tells the word. */
void dome__handshake_begin(dome_handshake *h, bool connects, const char *purpose, const void *cookie, size_t cookie_length,
                           uint32_t word);

/* Goes as far as it can over a connected socket, without waiting. Call it again when there is something to read. */
dome_handshake_state dome__handshake_step(dome_handshake *h, int fd);

/* The same, waiting for at most so many seconds. */
bool dome__handshake_complete(dome_handshake *h, int fd, double seconds);

#endif
