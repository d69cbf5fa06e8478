#include "supervision/hosts_script.h"

#include "supervision/hosts_policy.h"

#include <signal.h>
#include <sys/wait.h>

char **dome__hosts_script_ask(const char *script, char **slots, char **message)
{
    char *text = NULL, *command = g_strdup_printf(DOME_SCRIPT_COMMAND, script), *why = NULL, **hosts = NULL;
    char *limit = g_strdup_printf("%d", DOME_SCRIPT_LONGEST);
    char *words[] = {"timeout", "-s", "KILL", limit, "/bin/sh", "-c", command, NULL};
    GError *error = NULL;
    GArray *offers = NULL;
    int status = 0;
    if (!g_spawn_sync(NULL, words, NULL, G_SPAWN_SEARCH_PATH, NULL, NULL, &text, NULL, &status, &error))
        *message = g_strdup(error->message);
    else if (WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL)
        *message = g_strdup_printf("'%s' does not end within %s s", script, limit);
    else if (!dome__script_succeeded(text) || !(offers = dome__offers_parse(text, &why)))
        *message = g_strdup_printf("'%s' %s", script, why ? why : "has failed");
    if (offers) {
        hosts = g_new0(char *, offers->len + 1);
        GString *list = g_string_new(NULL);
        for (guint i = 0; i < offers->len; i++) {
            const dome_offer *o = &g_array_index(offers, dome_offer, i);
            hosts[i] = g_strdup(o->host);
            g_string_append_printf(list, "%s%s=%d", i ? " " : "", o->host, o->slots);
        }
        *slots = g_string_free(list, FALSE);
        g_array_unref(offers);
    }
    g_clear_error(&error);
    g_free(why);
    g_free(command);
    g_free(limit);
    g_free(text);
    return hosts;
}
