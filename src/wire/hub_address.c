#include "wire/hub_address.h"

#include "system/sockets.h"
#include "transport/handshake.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

bool dome__hub_address_parse(dome_hub_address *address, const char *text)
{
    char **part = g_strsplit(text, ";", 3);
    bool good = g_strv_length(part) == 3 && strlen(part[0]) == DOME_COOKIE_LENGTH && part[1][0];
    if (good) {
        address->cookie = g_strdup(part[0]);
        address->endpoints = g_strsplit(part[1], ",", 0);
        address->directory = g_strdup(part[2]);
    }
    g_strfreev(part);
    return good;
}

void dome__hub_address_clear(dome_hub_address *address)
{
    g_free(address->cookie);
    g_strfreev(address->endpoints);
    g_free(address->directory);
    memset(address, 0, sizeof *address);
}

void dome__hub_address_outside(dome_hub_address *address)
{
    guint kept = 0;
    for (char **endpoint = address->endpoints; *endpoint; endpoint++)
        if (g_str_has_prefix(*endpoint, "127."))
            g_free(*endpoint);
        else
            address->endpoints[kept++] = *endpoint;
    address->endpoints[kept] = NULL;
}

static int connect_to(const char *endpoint, double seconds)
{
    struct sockaddr_in to = {.sin_family = AF_INET};
    char **part = g_strsplit(endpoint, ":", 2);
    bool good = part[0] && part[1] && inet_pton(AF_INET, part[0], &to.sin_addr) == 1;
    to.sin_port = good ? htons((uint16_t)atoi(part[1])) : 0;
    g_strfreev(part);
    if (!good)
        return -1;
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0)
        return -1;
    if (connect(fd, (struct sockaddr *)&to, sizeof to) < 0) {
        struct pollfd p = {.fd = fd, .events = POLLOUT};
        int error = 0;
        socklen_t length = sizeof error;
        if (errno != EINPROGRESS || poll(&p, 1, (int)(seconds * 1000)) != 1 ||
            getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &length) < 0 || error != 0) {
            close(fd);
            return -1;
        }
    }
    if (fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) & ~O_NONBLOCK) < 0) {
        close(fd);
        return -1;
    }
    dome__socket_be_quick(fd);
    struct timeval limit = {.tv_sec = 5};
    setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit);
    return fd;
}

int dome__hub_connect(const dome_hub_address *address, const char *endpoint, dome_wire_channel channel, double seconds,
                      dome_macs *macs)
{
    dome_handshake handshake;
    int fd = connect_to(endpoint, seconds);
    dome__handshake_begin(&handshake, true, DOME_WIRE_PURPOSE, address->cookie, strlen(address->cookie), channel);
    if (fd >= 0 && !(dome__handshake_complete(&handshake, fd, seconds) && dome__handshake_macs(&handshake, fd, macs))) {
        close(fd);
        fd = -1;
    }
    return fd;
}
