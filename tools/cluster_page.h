/* The page of all submitted programs and their hosts: cluster.html, the daemon's table, and orders to the daemon. */
#ifndef DOME_TOOLS_CLUSTER_PAGE_H
#define DOME_TOOLS_CLUSTER_PAGE_H

#include "live.h"

extern const dome_live_source dome__cluster_page;

#endif
