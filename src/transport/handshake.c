#include "transport/handshake.h"

#include "system/bytes.h"
#include "system/deadline.h"
#include "system/entropy.h"

#include <glib.h>

#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <stddef.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>

/* The two sides, as indices of nonces and in proofs; in keys the side that sends. */
enum { CONNECTS, LISTENS, KEY_CONNECTS, KEY_LISTENS };

void dome__handshake_begin(dome_handshake *h, bool connects, const char *purpose, const void *cookie, size_t cookie_length,
                           uint32_t word)
{
    *h = (dome_handshake){
        .purpose = purpose, .cookie = cookie, .cookie_length = cookie_length, .connects = connects, .word = connects ? word : 0};
}

/* An IPv4 address that a socket for IPv6 shows in its own way: the other end may show it plainly. */
static void simplify(struct sockaddr_storage *place)
{
    const struct sockaddr_in6 six = *(const struct sockaddr_in6 *)(const void *)place;
    struct sockaddr_in four = {.sin_family = AF_INET, .sin_port = six.sin6_port};
    if (place->ss_family != AF_INET6 || !IN6_IS_ADDR_V4MAPPED(&six.sin6_addr))
        return;
    memcpy(&four.sin_addr, six.sin6_addr.s6_addr + 12, sizeof four.sin_addr);
    memcpy(place, &four, sizeof four);
}

/* Adds family, address and port. False for an address of another family. */
static bool put_address(GHmac *hmac, const struct sockaddr_storage *place, socklen_t length)
{
    const struct sockaddr_in *four = (const void *)place;
    const struct sockaddr_in6 *six = (const void *)place;
    const struct sockaddr_un *local = (const void *)place;
    const size_t name = length - MIN(offsetof(struct sockaddr_un, sun_path), length);
    const guchar family = place->ss_family == AF_INET ? 4 : place->ss_family == AF_INET6 ? 6 : 1;
    g_hmac_update(hmac, &family, sizeof family);
    if (place->ss_family == AF_INET) {
        g_hmac_update(hmac, (const guchar *)&four->sin_addr, sizeof four->sin_addr);
        g_hmac_update(hmac, (const guchar *)&four->sin_port, sizeof four->sin_port);
    } else if (place->ss_family == AF_INET6) {
        g_hmac_update(hmac, six->sin6_addr.s6_addr, sizeof six->sin6_addr.s6_addr);
        g_hmac_update(hmac, (const guchar *)&six->sin6_port, sizeof six->sin6_port);
    } else {
        g_hmac_update(hmac, (const guchar *)local->sun_path, (gssize)name);
    }
    return place->ss_family == AF_INET || place->ss_family == AF_INET6 || (place->ss_family == AF_UNIX && name > 0);
}

/* Adds where the listening side listens: both sides see the same, unless a third party relays the connection. */
static bool put_place(GHmac *hmac, const dome_handshake *h, int fd)
{
    struct sockaddr_storage place = {0};
    socklen_t length = sizeof place;
    int failed =
        h->connects ? getpeername(fd, (struct sockaddr *)&place, &length) : getsockname(fd, (struct sockaddr *)&place, &length);
    simplify(&place);
    return put_address(hmac, &place, length) && !failed;
}

/* The proof of a side, or a key. When the listening side proves, it does not know the word. */
static bool prove(const dome_handshake *h, int fd, int side, uint8_t proof[DOME_HANDSHAKE_PROOF])
{
    GHmac *hmac = g_hmac_new(G_CHECKSUM_SHA256, h->cookie, h->cookie_length);
    guchar role = (guchar)side;
    uint8_t word[sizeof h->word];
    gsize length = DOME_HANDSHAKE_PROOF;
    dome__put_u32(word, side == LISTENS ? 0 : h->word);
    g_hmac_update(hmac, (const guchar *)h->purpose, (gssize)strlen(h->purpose) + 1);
    g_hmac_update(hmac, &role, sizeof role);
    bool good = put_place(hmac, h, fd);
    g_hmac_update(hmac, (const guchar *)h->nonces, sizeof h->nonces);
    g_hmac_update(hmac, word, sizeof word);
    g_hmac_get_digest(hmac, proof, &length);
    g_hmac_unref(hmac);
    return good;
}

/* Compares in constant time, wherever the proofs differ. */
static bool proves(const dome_handshake *h, int fd, int side, const uint8_t *given)
{
    uint8_t wanted[DOME_HANDSHAKE_PROOF];
    unsigned differ = !prove(h, fd, side, wanted);
    for (size_t k = 0; k < sizeof wanted; k++)
        differ |= (unsigned)(wanted[k] ^ given[k]);
    return differ == 0;
}

static bool make_nonce(uint8_t nonce[DOME_HANDSHAKE_NONCE])
{
    return dome__random(nonce, DOME_HANDSHAKE_NONCE);
}

/* Does not wait: so few bytes fit into the send buffer of a new connection. */
static bool say(int fd, const void *data, size_t bytes)
{
    return send(fd, data, bytes, MSG_NOSIGNAL | MSG_DONTWAIT) == (ssize_t)bytes;
}

static bool say_nonce(dome_handshake *h, int fd)
{
    return make_nonce(h->nonces[CONNECTS]) && say(fd, h->nonces[CONNECTS], DOME_HANDSHAKE_NONCE);
}

/* The listening side's reaction to the nonce. */
static bool answer(dome_handshake *h, int fd)
{
    uint8_t message[DOME_HANDSHAKE_NONCE + DOME_HANDSHAKE_PROOF];
    memcpy(h->nonces[CONNECTS], h->in, DOME_HANDSHAKE_NONCE);
    if (!make_nonce(h->nonces[LISTENS]) || !prove(h, fd, LISTENS, message + DOME_HANDSHAKE_NONCE))
        return false;
    memcpy(message, h->nonces[LISTENS], DOME_HANDSHAKE_NONCE);
    return say(fd, message, sizeof message);
}

/* The connecting side's reaction to nonce and proof. */
static bool conclude(dome_handshake *h, int fd)
{
    uint8_t message[sizeof h->word + DOME_HANDSHAKE_PROOF];
    memcpy(h->nonces[LISTENS], h->in, DOME_HANDSHAKE_NONCE);
    if (!proves(h, fd, LISTENS, h->in + DOME_HANDSHAKE_NONCE) || !prove(h, fd, CONNECTS, message + sizeof h->word))
        return false;
    dome__put_u32(message, h->word);
    return say(fd, message, sizeof message);
}

/* The listening side's reaction to word and proof. */
static bool is_concluded(dome_handshake *h, int fd)
{
    h->word = dome__get_u32(h->in);
    return proves(h, fd, CONNECTS, h->in + sizeof h->word);
}

/* Reads the handshake's next message, and no byte beyond it: what follows is not part of the handshake. */
static dome_handshake_state hear(dome_handshake *h, int fd, size_t bytes)
{
    while (h->have < bytes) {
        ssize_t n = recv(fd, h->in + h->have, bytes - h->have, MSG_DONTWAIT);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0 && errno == EAGAIN)
            return DOME_HANDSHAKE_MORE;
        if (n <= 0)
            return DOME_HANDSHAKE_FAILED;
        h->have += (size_t)n;
    }
    h->have = 0;
    return DOME_HANDSHAKE_DONE;
}

static dome_handshake_state result(bool good)
{
    return good ? DOME_HANDSHAKE_DONE : DOME_HANDSHAKE_FAILED;
}

dome_handshake_state dome__handshake_step(dome_handshake *h, int fd)
{
    dome_handshake_state heard;
    if (h->connects) {
        if (!h->begun && !say_nonce(h, fd))
            return DOME_HANDSHAKE_FAILED;
        h->begun = true;
        heard = hear(h, fd, DOME_HANDSHAKE_NONCE + DOME_HANDSHAKE_PROOF);
        return heard == DOME_HANDSHAKE_DONE ? result(conclude(h, fd)) : heard;
    }
    if (!h->begun) {
        heard = hear(h, fd, DOME_HANDSHAKE_NONCE);
        if (heard != DOME_HANDSHAKE_DONE)
            return heard;
        if (!answer(h, fd))
            return DOME_HANDSHAKE_FAILED;
        h->begun = true;
    }
    heard = hear(h, fd, sizeof h->word + DOME_HANDSHAKE_PROOF);
    return heard == DOME_HANDSHAKE_DONE ? result(is_concluded(h, fd)) : heard;
}

bool dome__handshake_macs(const dome_handshake *h, int fd, dome_macs *macs)
{
    uint8_t connects[DOME_HANDSHAKE_PROOF], listens[DOME_HANDSHAKE_PROOF];
    const bool good = prove(h, fd, KEY_CONNECTS, connects) && prove(h, fd, KEY_LISTENS, listens);
    macs->out = dome__mac_of(h->connects ? connects : listens);
    macs->in = dome__mac_of(h->connects ? listens : connects);
    return good;
}

bool dome__handshake_complete(dome_handshake *h, int fd, double seconds)
{
    const dome_deadline until = dome__deadline_in(seconds);
    dome_handshake_state state;
    while ((state = dome__handshake_step(h, fd)) == DOME_HANDSHAKE_MORE) {
        struct pollfd p = {.fd = fd, .events = POLLIN};
        if (dome__deadline_poll(&p, 1, until) <= 0)
            return false;
    }
    return state == DOME_HANDSHAKE_DONE;
}
