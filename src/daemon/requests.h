/* What users may ask a daemon for, and the orders that come of it. Pure, but for the names of users and groups. */
#ifndef DOME_SRC_REQUESTS_H
#define DOME_SRC_REQUESTS_H

#include "daemon/server.h"
#include "daemon/table.h"

/* The order (table.h) that a request becomes:
 *
 *     submit directory= output= word=... env=... option=... tasks= least= priority= again= topology= nonce=
 *     wish program=WORD what=run|stop|end            limits program=WORD tasks= least= priority=
 *     use name= what=enable|disable|drain            lost name=                  these two for administrators
 *
 * Every request has version=. The user is the one that the kernel names, whatever the request says. Returns NULL with *order, to
 * be cleared, or why it is refused (g_free'd). */
char *dome__request_order(const dome_table *table, const char *host, const dome_server_user *user, const dome_record *request,
                          dome_record *order);

/* Why a request of any kind is refused for its version (g_free'd), or NULL. */
char *dome__request_version(const dome_record *request);

/* The program that a word means to a user: *program, or why there is none (g_free'd). */
char *dome__request_program(const dome_table *table, const char *word, const dome_program **program);

/* The user's name, g_free'd; NULL: there is none on this host. */
char *dome__request_user(const dome_server_user *user);

/* root, the user whose daemon this is, and members of the group dome. */
bool dome__request_is_administrator(const dome_server_user *user);

#endif
