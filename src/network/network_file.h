/* The files of measured networks: what `dome net` writes and programs read.
 *
 * They lie in the folder `network` of the user's cache (DOME_CACHE_DIR), one for each set of hosts, named by a hash of the hosts'
 * names: virtual machines of the same hosts share a file, and measuring the same hosts again replaces it. A program's hosts may
 * be only some of a file's, or there may be hosts that joined later: the file that knows most of the links in question is used.
 *
 * A file is a text: a first line with a SHA-256 of the rest, then groups of keys and values (GKeyFile):
 *
 *     # dome network, sha256 f2ca1bb6...
 *     [network]
 *     format=1
 *     measured=1763800000
 *     hosts=alpha;beta;gamma;
 *     [links]
 *     1-0=4.5e-05;112000000;0;
 *     2-1=0.00032;11800000;5900000;
 *     [rounds]
 *     2-1=3;0;
 *
 * A link is named by the places of its hosts in the list, the larger first; its numbers are those of dome_network: latency,
 * bandwidth, crowded; hindered, free. Links that are not known are left out, and so are links without rounds. */
#ifndef DOME_SRC_NETWORK_NETWORK_FILE_H
#define DOME_SRC_NETWORK_NETWORK_FILE_H

#include "network/network.h"

#include <stddef.h>

/* An older file is reported as old; its links are still used. Seconds. */
#define DOME_NETWORK_OLD (30 * 24 * 3600)

/* The most hosts of a file. */
enum { DOME_NETWORK_HOSTS = 1024 };

/* The text of a file; g_free'd. */
char *dome__network_text(const dome_network *network);

/* The network that a file's text describes; NULL with *reason (static) if it is damaged or of another format. */
dome_network *dome__network_parse(const char *text, size_t length, const char **reason);

/* Writes the file of these hosts, atomically. Returns its path (g_free'd), or NULL with *message (g_free'd). */
char *dome__network_write(const dome_network *network, char **message);

/* The links between these hosts, whose names differ, in this order, as files know them; NULL: nothing. *note (g_free'd): a
 * damaged file and what to do about it, in one line; else NULL. For rank 0 alone. */
dome_network *dome__network_read(int hosts, char *const *names, char **note);

/* When it was measured, for people, such as "3 hours ago"; says so if it is old. now: seconds since 1970. g_free'd. */
char *dome__network_age(const dome_network *network, int64_t now);

#endif
