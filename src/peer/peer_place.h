/* Where a task listens: an address of whichever family, with its length, or none. Its portable form is the same on machines
 * whose structs differ. */
#ifndef DOME_SRC_PEER_PLACE_H
#define DOME_SRC_PEER_PLACE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>

typedef struct dome_peer_place {
    struct sockaddr_storage address;
    socklen_t length; /* 0: there is none */
} dome_peer_place;

enum { DOME_PEER_PLACE_BYTES = 96 };

/* Loopback, or any address, of IPv4; port 0. */
dome_peer_place dome__peer_place_here(bool loopback);

/* Listens at the place, without blocking, at a port that the system chooses, and notes it. -1: errno. */
int dome__peer_place_listen(dome_peer_place *place);

/* The same by a local name that nobody can guess (transport/control_socket.h). */
int dome__peer_place_listen_near(dome_peer_place *place);

/* Begins to connect, without blocking. -1: errno. */
int dome__peer_place_connect(const dome_peer_place *place);

/* This host's address as seen by those who listen there, with the port of *own. False: errno. */
bool dome__peer_place_seen_from(const dome_peer_place *there, dome_peer_place *own);

/* Whether that address means whichever host one is on: loopback, or any. */
bool dome__peer_place_is_here(const dome_peer_place *place);

uint16_t dome__peer_place_port(const dome_peer_place *place);
void dome__peer_place_set_port(dome_peer_place *place, uint16_t port);

void dome__peer_place_put(uint8_t bytes[DOME_PEER_PLACE_BYTES], const dome_peer_place *place);

/* False: that is no place. */
bool dome__peer_place_get(const uint8_t bytes[DOME_PEER_PLACE_BYTES], dome_peer_place *place);

#endif
