/* What the files of the store share. */
#ifndef DOME_SRC_CKPT_STORE_PRIVATE_H
#define DOME_SRC_CKPT_STORE_PRIVATE_H

#include "ckpt/store.h"

/* Behind the name of a file that is being written. */
#define DOME_STORE_PART ".part"

/* What cannot be done with a checkpoint or a directory, with the reason in errno. False. */
bool dome__store_fails(char **message, const char *path, const char *what);
bool dome__store_directory_fails(char **message, const char *directory, const char *what);

#endif
