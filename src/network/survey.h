/* Which links are measured, whatever measures them. */
#ifndef DOME_SRC_NETWORK_SURVEY_H
#define DOME_SRC_NETWORK_SURVEY_H

#include "network/network.h"

/* Functions that measure links. */
typedef struct dome_probe {
    void *ctx;
    /* The link of two hosts, while no others exchange messages. False: one of them does not answer; the link stays as it is
     * known. */
    bool (*alone)(void *ctx, int a, int b, double *latency, double *bandwidth);
    /* The bandwidth of all these links while all of them are used; no host is in two pairs. pair: the hosts, two by two, of which
     * the first one sends. Each was measured alone. bandwidth: 0 where it cannot be measured. One pair: what it has alone, in the
     * same way. */
    void (*together)(void *ctx, int pairs, const int *pair, double *bandwidth);
} dome_probe;

/* Measures the links of a network of which nothing is known. Up to 12 hosts: all links.
 *
 * With more hosts the number of links measured grows as n log n. Each landmark measures its links to all hosts; the next landmark
 * is the host that is farthest from those so far, so each cluster has one as long as there are no more clusters than landmarks:
 * at least the logarithm of n to base 2, twice as many while the farthest host is far from all of them. Then the links of the
 * best ring are measured, which programs use most. All others are left unknown (dome__network_fill estimates them).
 *
 * The links on which the clusters depend (dome__network_joins) are measured three times, and the middle one counts.
 *
 * Then four hosts or more exchange messages at once, in rounds of pairs: over all links with up to 12 hosts, else over those of
 * the ring. Last, for each cluster and each two of them: rounds of pairs between them, in turns with one of these pairs alone,
 * until it is decided whether they share a medium (dome__network_sharing), or a limit is reached. Returns the number of links
 * measured alone. */
int dome__network_survey(dome_network *network, const dome_probe *probe);

/* Round `round` of n - 1 (n, if n is odd) in which every two hosts meet once: fills pair, and returns the number of pairs. */
int dome__network_round(int hosts, int round, int *pair);

#endif
