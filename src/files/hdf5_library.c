#ifdef DOME_WITH_HDF5

#include "files/hdf5_library.h"

#include <dlfcn.h>
#include <glib.h>
#include <string.h>

dome_hdf5_library dome__h5;

static void *library;

/* The library that Dome was compiled with, in its version: where the loader looks, or where it was then. */
static void *open_library(void)
{
    void *found = dlopen(DOME_HDF5_LIBRARY, RTLD_NOW | RTLD_LOCAL);
    return found ? found : dlopen(DOME_HDF5_FOLDER "/" DOME_HDF5_LIBRARY, RTLD_NOW | RTLD_LOCAL);
}

/* The address of a function or variable of the library. */
static bool find(const char *name, void *address, char **message)
{
    void *found = dlsym(library, name);
    memcpy(address, &found, sizeof found);
    if (!found && !*message)
        *message = g_strdup_printf("needs HDF5, whose library %s is without %s", DOME_HDF5_LIBRARY, name);
    return found != NULL;
}

static bool find_all(char **message)
{
    bool good = true;
#define FIND(name) good = good && find(#name, &dome__h5.name, message);
    DOME_HDF5_FUNCTIONS(FIND)
    DOME_HDF5_NUMBERS(FIND)
#undef FIND
    return good;
}

static bool same_version(char **message)
{
    unsigned major = 0, minor = 0, release = 0;
    dome__h5.H5get_libversion(&major, &minor, &release);
    if (major == H5_VERS_MAJOR && minor == H5_VERS_MINOR)
        return true;
    *message = g_strdup_printf("needs HDF5 %d.%d, but the library found is %u.%u", H5_VERS_MAJOR, H5_VERS_MINOR, major, minor);
    return false;
}

bool dome__hdf5_load(char **message)
{
    static bool loaded;
    if (loaded)
        return true;
    if (!library && !(library = open_library())) {
        *message = g_strdup_printf("needs HDF5, whose library %s is not installed here", DOME_HDF5_LIBRARY);
        return false;
    }
    loaded = find_all(message) && same_version(message);
    if (loaded)
        dome__h5.H5open();
    return loaded;
}

void dome__hdf5_quiet_begin(dome_hdf5_quiet *quiet)
{
    *quiet = (dome_hdf5_quiet){0};
    dome__h5.H5Eget_auto2(H5E_DEFAULT, &quiet->function, &quiet->data);
    dome__h5.H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
}

void dome__hdf5_quiet_end(const dome_hdf5_quiet *quiet)
{
    dome__h5.H5Eset_auto2(H5E_DEFAULT, quiet->function, quiet->data);
}

#endif
