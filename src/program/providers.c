#include "program/providers.h"

#include "system/environment_variables.h"
#ifdef DOME_WITH_PVM
#include "pvm/pvm.h"
#endif

#include <string.h>

/* In the order in which they are tried. */
static const dome_provider providers[] = {
#ifdef DOME_WITH_PVM
    {&dome__launcher_pvm, &dome__transport_pvm},
#endif
    {&dome__launcher_self, &dome__transport_self},
};

/* The title of a provider that is not in the list. */
static const char absent[] = "PVM";

const char *dome__provider_title(void)
{
    const dome_launcher *launcher = dome__launcher_that_can(DOME_LAUNCHER_SPAWN);
    return launcher ? launcher->title : absent;
}

const dome_provider *dome__provider_choose(const char *name, int tasks, const char **message)
{
    bool many = g_getenv(DOME_VARIABLE_HUB) != NULL; /* `dome run` has started a hub, which waits for tasks */
    for (size_t i = 0; i < G_N_ELEMENTS(providers); i++) {
        const dome_provider *p = &providers[i];
        bool spawns = p->launcher->can & DOME_LAUNCHER_SPAWN;
        if (name && strcmp(name, p->transport->name) != 0)
            continue;
        if (name ? spawns || tasks <= 1 : (many && spawns) || (!many && p->launcher->fits(tasks)))
            return p;
        if (name) {
            *message = "--dome-transport self runs one task: leave out --dome-tasks or use --dome-transport pvm";
            return NULL;
        }
    }
    static char without[120];
    g_snprintf(without, sizeof without, "this library was built without %s: it can only run one task, --dome-tasks 1",
               dome__provider_title());
    *message = without;
    return NULL;
}

const dome_launcher *dome__launcher_that_can(unsigned can)
{
    for (size_t i = 0; i < G_N_ELEMENTS(providers); i++)
        if ((providers[i].launcher->can & can) == can)
            return providers[i].launcher;
    return NULL;
}
