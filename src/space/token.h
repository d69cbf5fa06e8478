/* A lock over all tasks that carries what they have written (region/release.h, sections/section_log.h). Its token stays with the
 * task that had it last, so a task that comes again, with nobody between, sends nothing.
 *
 *     task 2 -> all        ASK              with the last section that task 2 has
 *     task 1 -> task 2     TOKEN            at once, or when task 1 leaves; with the sections that task 2 has not
 *
 * Nothing is published before the token goes. Then what its sender has changed is the next section, and the receiver takes in all
 * sections when it enters. The sender gives it unasked to one of the tasks that it has something to tell; others ask.
 *
 * A task whose unit nobody else had yet may be asked for it (settle in region/release.h): it gets the token to publish what it
 * has changed, too. */
#ifndef DOME_SRC_SPACE_TOKEN_H
#define DOME_SRC_SPACE_TOKEN_H

#include "core/environment.h"
#include "region/release.h"
#include "space/mail.h"
#include "space/space.h"

typedef struct dome_token dome_token;

/* Task 0 has it at first. Over env->peer, which runs; all tasks agree before the first use. The mail is the token's
 * from then on; NULL: there is none. */
dome_token *dome__token_new(dome_env *env, dome_release *release, dome_mail *mail);

/* After the channel has been stopped. NULL is allowed. */
void dome__token_free(dome_token *token);

/* Not nested. Enter returns the status of messages that were served meanwhile; the lock is this task's then, too. */
int dome__token_enter(dome_token *token);
void dome__token_leave(dome_token *token, const dome_space_telling *telling);

/* Outside: what this task has written need not be told now. False: it must be. */
bool dome__token_defer(dome_token *token);

/* This task is about to meet the others. */
void dome__token_meeting(dome_token *token);

/* All tasks have met (dome__release_meet_by) and have what others have written. */
void dome__token_met(dome_token *token);

/* How often others have told so far, or something new has come with the token; await returns when they have told since `seen`, or
 * after a second. */
uint64_t dome__token_told(dome_token *token);
int dome__token_await(dome_token *token, uint64_t seen);

#endif
