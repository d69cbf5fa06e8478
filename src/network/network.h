/* The links between hosts, as far as they are known: latency, bandwidth, which hosts are close to each other, and the best ring.
 *
 * The idea is that of Dome 1995 (Arabe et al., Dome: Parallel programming in a heterogeneous multi-user environment, section
 * 5.3): measure the network independently of its kind, find "clusters of machines which are mutually closer to each other than
 * any other machine", and order the ring of tasks along the circuit of least communication time. `dome net` measures (measure.h)
 * and writes the file (network_file.h), which a program reads when it starts.
 *
 * A link is judged by one number, the time of a message of DOME_NETWORK_MESSAGE bytes: latency and bandwidth both count in it. */
#ifndef DOME_SRC_NETWORK_H
#define DOME_SRC_NETWORK_H

#include <stdbool.h>
#include <stdint.h>

/* The message by which links are compared: about half of its time is latency on most networks. */
#define DOME_NETWORK_MESSAGE 65536.0

/* Matrices have hosts x hosts numbers and are symmetric; the link of a and b is [a * hosts + b]. 0: not known; a host's link to
 * itself is never known. */
typedef struct dome_network {
    int hosts;
    char **names;
    double *latency;   /* seconds that a message of a few bytes takes, one way */
    double *bandwidth; /* bytes per second of long messages, while no other pair of hosts exchanges any */
    double *crowded;   /* the same, while all hosts exchange messages in pairs; 0 for most links of many hosts */
    double *hindered;  /* rounds in which this link had much less than alone, while others between its clusters were used */
    double *free;      /* rounds in which it had as much */
    int64_t measured;  /* when, seconds since 1970; 0: never */
} dome_network;

/* A network of which nothing is known. Copies the names, which differ from each other. */
dome_network *dome__network_new(int hosts, char *const *names);
void dome__network_free(dome_network *network); /* NULL is allowed */

/* NULL, or what is wrong with it (static): equal or empty names, numbers that are negative, not finite or not symmetric. */
const char *dome__network_wrong(const dome_network *network);

/* The number of a host, -1: there is none of this name. */
int dome__network_find(const dome_network *network, const char *name);

/* Enters what was measured between two hosts, both ways; crowded may be 0. */
void dome__network_enter(dome_network *network, int a, int b, double latency, double bandwidth, double crowded);

/* Enters the rounds in which the link was hindered by others, and those in which it was not. */
void dome__network_enter_rounds(dome_network *network, int a, int b, double hindered, double free);

/* The same network for these hosts, in this order. Links of hosts that `network` lacks are not known. */
dome_network *dome__network_select(const dome_network *network, int hosts, char *const *names);

/* How long a message takes from a to b; 0 if a is b, or the link is not known. */
double dome__network_seconds(const dome_network *network, int a, int b, double bytes);

/* Clusters, numbered from 0 in the order of their first hosts: fills cluster (by host) and returns their number.
 *
 * Hosts are joined by the fastest links first (single linkage), so a link that was measured too slow, by a burst of other
 * traffic, changes nothing as long as others join its hosts. The n - 1 links that join them, sorted by time, are cut where the
 * ratio of one to the next is largest, if it is at least 2: noise of 20 % cannot make that ratio (1.2 / 0.8 = 1.5). Without such
 * a step there is one cluster. A host that no known link joins to others is a cluster of its own; if no link at all is known,
 * there is one cluster. */
int dome__network_clusters(const dome_network *network, int *cluster);

/* The links that join the hosts, fastest first: fills pair with their hosts, two by two, and returns their number, at most
 * hosts - 1. The clusters depend on these alone. */
int dome__network_joins(const dome_network *network, int *pair);

/* Fills in latency and bandwidth of links that are not known: the medians of the known links between the same two clusters (or
 * within the same one), or else of all known links between clusters (or within one). Links of a host that no known link joins to
 * others stay unknown. For cost estimates; never written to the file. */
void dome__network_fill(dome_network *network);

/* Whether the hosts of cluster a share one medium with those of b (a == b: with each other).
 *
 * Each round in which several of their pairs exchanged messages is a vote. Votes are counted until one side leads by
 * DOME_SHARING_LEAD (Wald's sequential test) and has DOME_SHARING_PART of all: if four of five rounds show what the medium is, at
 * most one decision in 257 is wrong; where rounds show now this, now that, there is none. Without a vote, as within a cluster of
 * fewer than four hosts, it is unknown. */
#define DOME_SHARING_LEAD 4
#define DOME_SHARING_PART 0.8
typedef enum dome_sharing { DOME_SHARING_UNKNOWN, DOME_SHARED, DOME_SWITCHED, DOME_SHARING_UNDECIDED } dome_sharing;
typedef struct dome_sharing_votes {
    double hindered, free;
} dome_sharing_votes;
dome_sharing dome__network_sharing(const dome_network *network, const int *cluster, int a, int b);
dome_sharing_votes dome__network_votes(const dome_network *network, const int *cluster, int a, int b);

/* A pair has less than this part of what it has alone if it is hindered by others: half of it, or less, on one cable. */
#define DOME_HINDERED_BELOW 0.7

/* The median of known values (> 0) of a matrix between two clusters (a == b: within); 0: none is known. */
double dome__network_median(const dome_network *network, const double *matrix, const int *cluster, int a, int b);

/* ---- the ring ---- */

/* Fills order with all hosts, beginning with host 0, such that the closed ring has the least total time of messages between
 * neighbours: the travelling salesperson's problem. The best of all up to 10 hosts (dynamic programming); beyond that nearest
 * neighbours from many hosts, improved by reversing parts (2-opt) and by moving up to three hosts (Or-opt). A link that is not
 * known counts like the slowest known one. Returns the ring's time. */
double dome__network_tour(const dome_network *network, int *order);

/* The time of the closed ring in this order, in the same measure. */
double dome__network_tour_seconds(const dome_network *network, const int *order);

#endif
