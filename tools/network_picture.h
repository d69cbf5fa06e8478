/* A picture of a network: hosts by cluster, links by speed. */
#ifndef DOME_TOOLS_NETWORK_PICTURE_H
#define DOME_TOOLS_NETWORK_PICTURE_H

#include "network/network.h"

#include <glib.h>

/* An SVG document; g_free'd by the caller. */
char *dome__network_picture(const dome_network *network);

/* A time and a speed for people, such as "0.12 ms" and "11.8 MB/s"; g_free'd by the caller. */
char *dome__latency_text(double seconds);
char *dome__speed_text(double bytes_per_second);

/* "shared", "switched"; NULL: not known. */
const char *dome__sharing_text(dome_sharing sharing);

#endif
