/* How two processes that know a program's cookie prove it to each other over a connection (TCP by IPv4 or IPv6, or a local
 * socket with a name), without showing it:
 *
 *     connecting side                 listening side
 *     nonce                 ------->
 *                           <-------  nonce, proof
 *     word, proof           ------->
 *
 * A proof is an HMAC-SHA256, with the cookie as its key, of the purpose, the proving side, the family, address and
 * port (or name) of the listening side, both nonces and the word. So neither a replayed message nor the other side's own proof
 * passes as a proof, and a man in the middle, who listens at an address of his own, cannot relay messages. The word is a number
 * that the connecting side sends, e.g. its rank. An unproven connection costs no more than the few bytes of this struct.
 *
 * Keys for message authentication codes (mac.h) follow from it, one for each direction: HMACs of the same, so that each
 * connection has keys of its own, which only processes that know the cookie can have. */
#ifndef DOME_SRC_HANDSHAKE_H
#define DOME_SRC_HANDSHAKE_H

#include "transport/mac.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { DOME_HANDSHAKE_NONCE = 16, DOME_HANDSHAKE_PROOF = 32 };

/* Timeout of a handshake, in seconds. */
enum { DOME_HANDSHAKE_PATIENCE = 5 };

typedef enum dome_handshake_state {
    DOME_HANDSHAKE_MORE,  /* the other side's next message has not arrived */
    DOME_HANDSHAKE_DONE,  /* the other side has proven that it knows the cookie */
    DOME_HANDSHAKE_FAILED /* the proof was wrong, or the connection is lost */
} dome_handshake_state;

typedef struct dome_handshake {
    const char *purpose;
    const void *cookie;
    size_t cookie_length;
    bool connects;
    uint32_t word; /* the connecting side's; valid on the listening side once the handshake is done */
    bool begun;
    uint8_t nonces[2][DOME_HANDSHAKE_NONCE]; /* the connecting side's, the listening side's */
    uint8_t in[DOME_HANDSHAKE_NONCE + DOME_HANDSHAKE_PROOF];
    size_t have;
} dome_handshake;

/* purpose and cookie are not copied: they must outlive the handshake. connects: this side has connected and sends the word. */
void dome__handshake_begin(dome_handshake *h, bool connects, const char *purpose, const void *cookie, size_t cookie_length,
                           uint32_t word);

/* Advances the handshake over a connected socket as far as possible without blocking. Call it again when the socket is
 * readable. */
dome_handshake_state dome__handshake_step(dome_handshake *h, int fd);

/* After DONE: the keys of this end. False if the connection is lost. */
bool dome__handshake_macs(const dome_handshake *h, int fd, dome_macs *macs);

/* Completes the handshake, blocking for at most so many seconds. */
bool dome__handshake_complete(dome_handshake *h, int fd, double seconds);

#endif
