/* Shared by the files that implement the store. */
#ifndef DOME_SRC_STORE_STORE_PRIVATE_H
#define DOME_SRC_STORE_STORE_PRIVATE_H

#include "store/store.h"

/* Sets a message about a failed action on a checkpoint or a directory, with the reason in errno. Returns false. */
bool dome__store_fails(char **message, const char *path, const char *what);
bool dome__store_directory_fails(char **message, const char *directory, const char *what);

#endif
