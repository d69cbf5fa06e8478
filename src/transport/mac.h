/* Message authentication codes: they prove that a message comes from the process with which the handshake was made (handshake.h),
 * that it was not altered on the way, and that none was left out, repeated or moved. They do not hide what a message says.
 *
 * The code is SipHash-2-4 with 128 bits (J.-P. Aumasson, D. J. Bernstein: SipHash: a fast short-input PRF, 2012) of the message's
 * number and its bytes, with a key of its own for each direction of each connection. HMAC-SHA256, which the handshake uses,
 * takes more than ten times as long for a beat, and GLib's cannot be called in a signal handler. */
#ifndef DOME_SRC_MAC_H
#define DOME_SRC_MAC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { DOME_MAC_BYTES = 16, DOME_MAC_KEY = 16 };

/* One direction of a connection: its key, and how many messages have passed. */
typedef struct dome_mac {
    uint64_t key[2], messages;
} dome_mac;

/* Both directions, as one end sees them. */
typedef struct dome_macs {
    dome_mac out, in;
} dome_macs;

dome_mac dome__mac_of(const uint8_t key[DOME_MAC_KEY]);

/* The code of the next message. Async-signal-safe. */
void dome__mac_next(dome_mac *mac, const void *data, size_t bytes, uint8_t code[DOME_MAC_BYTES]);

/* Whether this is the code of the next message. Takes the same time wherever codes differ. */
bool dome__mac_check(dome_mac *mac, const void *data, size_t bytes, const uint8_t code[DOME_MAC_BYTES]);

#endif
