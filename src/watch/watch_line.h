/* A task's connection to the hub. Any thread sends; the watch's thread alone reads. watch_line.c alone changes these members. */
#ifndef DOME_SRC_WATCH_LINE_H
#define DOME_SRC_WATCH_LINE_H

#include "transport/mac.h"
#include "wire/hub_address.h"
#include "wire/wire.h"

#include <glib.h>
#include <pthread.h>
#include <stdbool.h>

typedef struct watch_line {
    int fd;               /* -1: none, or in a fork of the task */
    pthread_mutex_t send; /* protects sending, and macs.out */
    dome_macs macs;
    GByteArray *in;
} watch_line;

void dome__watch_line_init(watch_line *line);

/* Frees; the connection stays open. */
void dome__watch_line_clear(watch_line *line);

/* Connects to the hub and greets it. */
bool dome__watch_line_open(watch_line *line, const dome_hub_address *address, const dome_wire_hello *hello);

void dome__watch_line_close(watch_line *line);

/* Leads one of this process's streams to the hub, by a connection of its own. */
bool dome__watch_redirect(const dome_hub_address *address, const dome_wire_hello *hello, dome_wire_channel channel, int stream);

void dome__watch_send_frame(watch_line *line, const GByteArray *frame);
void dome__watch_send(watch_line *line, const dome_wire_message *message);

/* A message with its code, for a fork of this process to send: until dome__watch_lent no thread of this one sends any. */
GByteArray *dome__watch_lend(watch_line *line, const dome_wire_message *message);
void dome__watch_lent(watch_line *line);

/* Sends that this signal ends the task, as its last message. Called from a signal handler. */
void dome__watch_send_signal(watch_line *line, int number);

/* Waits until the system has sent what was written. */
void dome__watch_flush(const watch_line *line);

/* Reads data from the hub. True: there was some. *gone: the connection is closed. */
bool dome__watch_receive(watch_line *line, bool *gone);

/* The next message that was read, as dome__wire_next. */
int dome__watch_next(watch_line *line, dome_wire_message *message);

/* The address of the hub as this task reaches it, a struct sockaddr_in; false if it is unknown. */
bool dome__watch_line_peer(const watch_line *line, void *address);

#endif
