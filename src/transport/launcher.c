#include "transport/launcher.h"

void dome__members_free(dome_members *members)
{
    if (!members)
        return;
    g_free(members->ids);
    g_strfreev(members->hosts);
    g_free(members->formats);
    g_free(members->hub);
    g_free(members->directory);
    g_free(members->back);
    g_free(members);
}
