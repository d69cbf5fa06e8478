/* Lines between the daemons of two hosts, by TCP: after the handshake (transport/handshake.h) with the key that both have in a
 * file, each line has a code of its number and its bytes (transport/mac.h):
 *
 *     2f6a...32 hexadecimal digits wish version=5 as=ada program=j7 what=stop
 *
 * So none can be altered, repeated, left out or moved. Who knows the key is believed whose request it is (as=). */
#ifndef DOME_SRC_REMOTE_LINE_H
#define DOME_SRC_REMOTE_LINE_H

#include "daemon/daemon_record.h"
#include "transport/mac.h"

#include <stdbool.h>
#include <stddef.h>

#define DOME_REMOTE_PURPOSE "dome-daemon-1"

enum { DOME_REMOTE_PORT = 7195, DOME_REMOTE_KEY = 32, DOME_REMOTE_HEAD = 2 * DOME_MAC_BYTES + 1 };

/* The line with its code and its end; g_free'd. */
char *dome__remote_seal(dome_mac *mac, const dome_record *record);

/* Reads a line without its end; false: it is none, or not the next one of this connection. */
bool dome__remote_open(dome_mac *mac, const char *line, size_t length, dome_record *record);

/* The key in a file that its user alone can read; *length: its bytes, 32 or more. NULL with *message (both g_free'd). */
char *dome__remote_key(const char *path, size_t *length, char **message);

/* Makes a file with a new key, for this user alone, if there is no file; whether it did. */
bool dome__remote_key_make(const char *path);

/* Takes HOST:PORT or HOST apart: *host (g_free'd) and *port. [ADDRESS]:PORT for addresses with colons. */
bool dome__remote_address(const char *text, char **host, int *port);

#endif
