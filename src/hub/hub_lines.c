/* The connections of tasks to the hub: the list of them, and messages to all watchers. */
#include "hub/hub_private.h"
#include "wire/wire.h"

#include <sys/epoll.h>
#include <unistd.h>

/* Connections of tasks are in sets of the kernel (epoll), so that an event of one of thousands costs no look at all the others:
 * one set for what tasks say, and one for each stream of their output, since a stream is left unread as a whole while its reader
 * is slow. */
static int set_of(const hub_client *c)
{
    if (!dome__hub_is_output(c))
        return DOME_HUB_TALK;
    return c->channel == DOME_WIRE_STDOUT ? DOME_HUB_OUT : DOME_HUB_ERROR;
}

/* Explicitly, before the descriptor is closed: a child of this process may still have it open, and the set would go on telling of
 * it. */
void dome__hub_hear_no_more(hub_state *s, hub_client *c)
{
    if (!c->in_set)
        return;
    epoll_ctl(s->machine->poll.sets[c->set].fd, EPOLL_CTL_DEL, c->fd, NULL);
    s->machine->poll.sets[c->set].members--;
    c->in_set = false;
}

bool dome__hub_hear_from_now(hub_state *s, hub_client *c)
{
    struct epoll_event event = {.events = EPOLLIN, .data.ptr = c};
    dome__hub_hear_no_more(s, c);
    c->set = set_of(c);
    c->in_set = epoll_ctl(s->machine->poll.sets[c->set].fd, EPOLL_CTL_ADD, c->fd, &event) == 0;
    s->machine->poll.sets[c->set].members += c->in_set;
    return c->in_set;
}

static void client_free(hub_client *c)
{
    if (!c->closed)
        close(c->fd);
    if (c->process >= 0)
        close(c->process);
    g_byte_array_free(c->in, TRUE);
    g_free(c->host);
    g_free(c->early);
    g_free(c->beat.object);
    g_free(c->beat.operation);
    g_free(c);
}

void dome__hub_lines_open(hub_state *s)
{
    s->clients = g_ptr_array_new();
    s->watches = g_ptr_array_new();
}

void dome__hub_lines_close(hub_state *s)
{
    for (guint i = 0; i < s->clients->len; i++)
        client_free(s->clients->pdata[i]);
    g_ptr_array_free(s->clients, TRUE);
    g_ptr_array_free(s->watches, TRUE);
}

void dome__hub_add_client(hub_state *s, int fd, dome_wire_channel channel, const dome_macs *macs)
{
    hub_client *c = g_new0(hub_client, 1);
    c->fd = fd;
    c->channel = channel;
    c->macs = *macs;
    c->heard = s->now;
    c->rank = -1;
    c->process = c->exit_status = -1;
    c->in = g_byte_array_new();
    g_ptr_array_add(s->clients, c);
    if (!dome__hub_hear_from_now(s, c)) {
        close(fd);
        c->closed = true;
    }
}

/* Keeps closed connections of the watches of this view: they hold the last known state of their tasks. */
void dome__hub_sweep(hub_state *s)
{
    for (guint i = 0; i < s->clients->len;) {
        hub_client *c = s->clients->pdata[i];
        const bool present = c->view >= s->view.number;
        if (c->closed && !(dome__hub_is_watch(c) && present)) {
            if (c->rank >= 0 && dome__hub_watch_of(s, (uint32_t)c->rank) == c)
                s->watches->pdata[c->rank] = NULL;
            g_ptr_array_remove_index(s->clients, i);
            client_free(c);
        } else {
            i++;
        }
    }
}

hub_client *dome__hub_watch_of(const hub_state *s, uint32_t rank)
{
    return rank < s->watches->len ? s->watches->pdata[rank] : NULL;
}

void dome__hub_send(hub_client *c, const dome_wire_message *message)
{
    dome__wire_send(c->fd, &c->macs.out, message);
}

/* More tasks than any launcher can start. */
enum { RANKS = 1 << 20 };

void dome__hub_note_watch(hub_state *s, hub_client *c)
{
    if (c->rank < 0 || c->rank >= RANKS)
        return;
    if ((guint)c->rank >= s->watches->len)
        g_ptr_array_set_size(s->watches, c->rank + 1);
    s->watches->pdata[c->rank] = c;
}

static void send_to_watches(hub_state *s, dome_wire_kind kind, bool all)
{
    GByteArray *frame = dome__wire_frame(&(dome_wire_message){.kind = kind});
    for (guint i = 0; i < s->clients->len; i++) {
        hub_client *c = s->clients->pdata[i];
        if (dome__hub_is_there(c) && (all || !c->told_of))
            dome__wire_send_frames(c->fd, &c->macs.out, frame);
    }
    g_byte_array_unref(frame);
}

void dome__hub_to_all_watches(hub_state *s, dome_wire_kind kind)
{
    send_to_watches(s, kind, true);
}

void dome__hub_say_alive(hub_state *s)
{
    send_to_watches(s, DOME_WIRE_ALIVE, false);
}
