#include "peer/peer_place.h"

#include "transport/control_socket.h"

#include <errno.h>
#include <netinet/in.h>
#include <stddef.h>
#include <string.h>
#include <sys/un.h>
#include <unistd.h>

/* The first byte of the portable form; then the port, big-endian, and the address; a name is preceded by its length. */
enum { NONE, LOCAL, IPV4 = 4, IPV6 = 6 };

enum { NAME_AT = 2, NAME_MOST = DOME_PEER_PLACE_BYTES - NAME_AT, PORT_AT = 1, ADDRESS_AT = 3 };

dome_peer_place dome__peer_place_here(bool loopback)
{
    const struct sockaddr_in four = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(loopback ? INADDR_LOOPBACK : INADDR_ANY)};
    dome_peer_place place = {.length = sizeof four};
    memcpy(&place.address, &four, sizeof four);
    return place;
}

bool dome__peer_place_is_here(const dome_peer_place *place)
{
    const struct sockaddr_in *four = (const void *)&place->address;
    const struct sockaddr_in6 *six = (const void *)&place->address;
    if (place->address.ss_family == AF_INET6)
        return IN6_IS_ADDR_LOOPBACK(&six->sin6_addr) || IN6_IS_ADDR_UNSPECIFIED(&six->sin6_addr);
    return ntohl(four->sin_addr.s_addr) >> 24 == IN_LOOPBACKNET || four->sin_addr.s_addr == htonl(INADDR_ANY);
}

static in_port_t *port_of(dome_peer_place *place)
{
    return place->address.ss_family == AF_INET6 ? &((struct sockaddr_in6 *)(void *)&place->address)->sin6_port
                                                : &((struct sockaddr_in *)(void *)&place->address)->sin_port;
}

uint16_t dome__peer_place_port(const dome_peer_place *place)
{
    dome_peer_place copy = *place;
    return ntohs(*port_of(&copy));
}

void dome__peer_place_set_port(dome_peer_place *place, uint16_t port)
{
    *port_of(place) = htons(port);
}

/* ---- sockets ---- */

/* Closes it, and keeps errno. */
static int give_up(int fd)
{
    const int error = errno;
    if (fd >= 0)
        close(fd);
    errno = error;
    return -1;
}

static bool note_own(int fd, dome_peer_place *place)
{
    place->length = sizeof place->address;
    return getsockname(fd, (struct sockaddr *)&place->address, &place->length) == 0;
}

int dome__peer_place_listen(dome_peer_place *place)
{
    const int fd = socket(place->address.ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0 || bind(fd, (struct sockaddr *)&place->address, place->length) < 0 || listen(fd, SOMAXCONN) < 0 ||
        !note_own(fd, place))
        return give_up(fd);
    return fd;
}

int dome__peer_place_listen_near(dome_peer_place *place)
{
    const int fd = dome__control_socket_listen(DOME_CONTROL_PEER);
    if (fd < 0 || !note_own(fd, place))
        return give_up(fd);
    return fd;
}

int dome__peer_place_connect(const dome_peer_place *place)
{
    const int fd = socket(place->address.ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0 || (connect(fd, (const struct sockaddr *)&place->address, place->length) < 0 && errno != EINPROGRESS))
        return give_up(fd);
    return fd;
}

bool dome__peer_place_seen_from(const dome_peer_place *there, dome_peer_place *own)
{
    const uint16_t port = dome__peer_place_port(own);
    dome_peer_place to = *there;
    if (!dome__peer_place_port(&to))
        dome__peer_place_set_port(&to, 9); /* any: nothing is sent */
    const int fd = socket(to.address.ss_family, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    const bool good = fd >= 0 && connect(fd, (const struct sockaddr *)&to.address, to.length) == 0 && note_own(fd, own);
    give_up(fd);
    dome__peer_place_set_port(own, port);
    return good;
}

/* ---- the portable form ---- */

static void put_port(uint8_t *bytes, const dome_peer_place *place)
{
    const uint16_t port = dome__peer_place_port(place);
    bytes[PORT_AT] = (uint8_t)(port >> 8);
    bytes[PORT_AT + 1] = (uint8_t)port;
}

static void put_name(uint8_t *bytes, const dome_peer_place *place)
{
    const struct sockaddr_un *local = (const void *)&place->address;
    const size_t length = place->length - offsetof(struct sockaddr_un, sun_path);
    if (length > NAME_MOST)
        return;
    bytes[0] = LOCAL;
    bytes[1] = (uint8_t)length;
    memcpy(bytes + NAME_AT, local->sun_path, length);
}

void dome__peer_place_put(uint8_t bytes[DOME_PEER_PLACE_BYTES], const dome_peer_place *place)
{
    const struct sockaddr_in *four = (const void *)&place->address;
    const struct sockaddr_in6 *six = (const void *)&place->address;
    memset(bytes, NONE, DOME_PEER_PLACE_BYTES);
    if (!place->length)
        return;
    if (place->address.ss_family == AF_UNIX) {
        put_name(bytes, place);
        return;
    }
    bytes[0] = place->address.ss_family == AF_INET ? IPV4 : IPV6;
    put_port(bytes, place);
    if (bytes[0] == IPV4)
        memcpy(bytes + ADDRESS_AT, &four->sin_addr, sizeof four->sin_addr);
    else
        memcpy(bytes + ADDRESS_AT, &six->sin6_addr, sizeof six->sin6_addr);
}

static bool get_name(const uint8_t *bytes, dome_peer_place *place)
{
    struct sockaddr_un local = {.sun_family = AF_UNIX};
    const size_t length = bytes[1];
    if (length == 0 || length > NAME_MOST || length > sizeof local.sun_path)
        return false;
    memcpy(local.sun_path, bytes + NAME_AT, length);
    memcpy(&place->address, &local, sizeof local);
    place->length = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + length);
    return true;
}

bool dome__peer_place_get(const uint8_t bytes[DOME_PEER_PLACE_BYTES], dome_peer_place *place)
{
    struct sockaddr_in four = {.sin_family = AF_INET};
    struct sockaddr_in6 six = {.sin6_family = AF_INET6};
    *place = (dome_peer_place){0};
    if (bytes[0] == LOCAL)
        return get_name(bytes, place);
    if (bytes[0] == IPV4) {
        memcpy(&four.sin_addr, bytes + ADDRESS_AT, sizeof four.sin_addr);
        memcpy(&place->address, &four, place->length = sizeof four);
    } else if (bytes[0] == IPV6) {
        memcpy(&six.sin6_addr, bytes + ADDRESS_AT, sizeof six.sin6_addr);
        memcpy(&place->address, &six, place->length = sizeof six);
    }
    if (place->length)
        dome__peer_place_set_port(place, (uint16_t)(bytes[PORT_AT] << 8 | bytes[PORT_AT + 1]));
    return place->length || bytes[0] == NONE;
}
