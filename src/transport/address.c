#include "transport/address.h"

#include <arpa/inet.h>
#include <glib.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netdb.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

bool dome__outside_interface(char text[INET_ADDRSTRLEN])
{
    struct ifaddrs *interfaces = NULL;
    bool found = false;
    if (getifaddrs(&interfaces) < 0)
        return false;
    for (struct ifaddrs *i = interfaces; i && !found; i = i->ifa_next) {
        if (!i->ifa_addr || i->ifa_addr->sa_family != AF_INET || (i->ifa_flags & IFF_LOOPBACK) || !(i->ifa_flags & IFF_UP))
            continue;
        const struct sockaddr_in *in = (const struct sockaddr_in *)(const void *)i->ifa_addr;
        found = inet_ntop(AF_INET, &in->sin_addr, text, INET_ADDRSTRLEN) != NULL;
    }
    freeifaddrs(interfaces);
    return found;
}

char *dome__outside_address(void)
{
    char name[256] = "", text[INET_ADDRSTRLEN];
    char *found = NULL;
    struct addrinfo hints = {.ai_family = AF_INET, .ai_socktype = SOCK_STREAM}, *list = NULL;
    gethostname(name, sizeof name - 1);
    if (getaddrinfo(name, NULL, &hints, &list) == 0) {
        const struct sockaddr_in *in = (const struct sockaddr_in *)(const void *)list->ai_addr;
        if (ntohl(in->sin_addr.s_addr) >> 24 != 127)
            found = g_strdup(name);
        freeaddrinfo(list);
    }
    if (!found && dome__outside_interface(text))
        found = g_strdup(text);
    return found;
}

/* Checked here because PVM itself would start daemons that cannot reach this host, and wait for them. */
bool dome__address_is_outside(const char *address, char **message)
{
    struct addrinfo hints = {.ai_family = AF_INET, .ai_socktype = SOCK_STREAM}, *list = NULL;
    if (!address) {
        *message = g_strdup("hosts cannot be added: this one has no address but loopback");
        return false;
    }
    int failed = getaddrinfo(address, NULL, &hints, &list);
    if (failed) {
        *message =
            g_strdup_printf("hosts cannot be added: the address %s of this host is not known: %s", address, gai_strerror(failed));
        return false;
    }
    const struct sockaddr_in *in = (const struct sockaddr_in *)(const void *)list->ai_addr;
    bool good = ntohl(in->sin_addr.s_addr) >> 24 != 127;
    if (!good)
        *message =
            g_strdup_printf("hosts cannot be added: %s is a loopback address, by which no other host reaches this one: give "
                            "another by --address",
                            address);
    freeaddrinfo(list);
    return good;
}
