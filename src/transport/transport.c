#include "transport/transport.h"

#include "transport/ahead.h"

#include <glib.h>
#include <stdio.h>
#include <time.h>

dome_transport *dome__transport_new(const dome_transport_ops *ops, void *state, int rank, int size)
{
    dome_transport *transport = g_new0(dome_transport, 1);
    transport->provider = (dome_transport_provider){.ops = ops, .state = state, .can = ops->can, .transport = transport};
    transport->group.rank = rank;
    transport->group.size = size;
    dome__account_open(&transport->account, size);
    return transport;
}

dome_transport_provider dome__transport_wrap(dome_transport *transport, const dome_transport_ops *ops, void *state, unsigned can)
{
    const dome_transport_provider inner = transport->provider;
    transport->provider = (dome_transport_provider){.ops = ops, .state = state, .can = can, .transport = transport};
    return inner;
}

static bool stopped;

void dome__transport_stop(void)
{
    __atomic_store_n(&stopped, true, __ATOMIC_RELEASE);
}

void dome__transport_resume(void)
{
    __atomic_store_n(&stopped, false, __ATOMIC_RELEASE);
}

void dome__transport_may_send(void)
{
    while (__atomic_load_n(&stopped, __ATOMIC_ACQUIRE)) {
        dome__transport_may_leave();
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    }
}

static bool asked_to_leave;
static jmp_buf *leave_to; /* of the task's own thread */

void dome__transport_ask_to_leave(void)
{
    __atomic_store_n(&asked_to_leave, true, __ATOMIC_RELEASE);
}

bool dome__transport_asks_to_leave(void)
{
    return __atomic_load_n(&asked_to_leave, __ATOMIC_ACQUIRE);
}

void dome__transport_stays(void)
{
    __atomic_store_n(&asked_to_leave, false, __ATOMIC_RELEASE);
}

void dome__transport_leave_to(jmp_buf *place)
{
    leave_to = place;
}

bool dome__transport_can_leave(void)
{
    return leave_to != NULL;
}

void dome__transport_may_leave(void)
{
    jmp_buf *place = leave_to;
    if (!place || !dome__transport_asks_to_leave())
        return;
    leave_to = NULL;
    longjmp(*place, 1);
}

int dome__transport_error(dome_transport *transport, int status, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(transport->reason, sizeof transport->reason, format, args);
    va_end(args);
    return status;
}

void dome__transport_free(dome_transport *transport)
{
    if (!transport)
        return;
    if (transport->provider.ops && transport->provider.ops->close)
        transport->provider.ops->close(&transport->provider);
    dome__ahead_line_free(transport);
    dome__account_clear(&transport->account);
    dome__group_clear(&transport->group);
    g_free(transport);
}
