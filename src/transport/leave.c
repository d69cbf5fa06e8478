/* Tasks that send nothing more, and tasks that leave a view where they wait: the functions of transport.h for that. They use no
 * transport. */
#include "transport/transport.h"

#include <time.h>

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
