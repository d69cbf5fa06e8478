#include "cluster_page.h"

#include "daemon_client.h"
#include "submitted.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* cluster.html, embedded by cmake/Embed.cmake. */
extern const unsigned char dome__cluster_html[];
extern const size_t dome__cluster_html_size;

static char *page(size_t *length)
{
    char *text = malloc(dome__cluster_html_size);
    if (text)
        memcpy(text, dome__cluster_html, dome__cluster_html_size);
    *length = dome__cluster_html_size;
    return text;
}

static char *data(size_t *length)
{
    char *text = NULL;
    dome_table *table = dome__daemon_look();
    FILE *to = table ? open_memstream(&text, length) : NULL;
    if (to) {
        dome__submitted_write(table, to);
        fclose(to);
    }
    dome__table_free(table);
    return text;
}

/* "priority j7 5", "tasks j7 8", "min j7 2". The daemon reads the number. */
static bool limit_of(char **words, dome_record *request)
{
    static const char *const limits[][2] = {{"priority", "priority"}, {"tasks", "tasks"}, {"min", "least"}};
    for (size_t k = 0; k < G_N_ELEMENTS(limits) && g_strv_length(words) == 3; k++)
        if (strcmp(words[0], limits[k][0]) == 0) {
            *request = dome__daemon_request("limits");
            dome__record_add(request, "program", words[1]);
            dome__record_add(request, limits[k][1], words[2]);
            return true;
        }
    return false;
}

/* The request that an order of the page is: "stop j7", "drain h3"; false: it is none. */
static bool request_of(const char *text, dome_record *request)
{
    static const char *const wishes[] = {"stop", "run", "end", NULL}, *const uses[] = {"enable", "disable", "drain", NULL};
    char **words = g_strsplit(text, " ", 4);
    const bool two = g_strv_length(words) == 2, wish = two && g_strv_contains(wishes, words[0]),
               use = two && g_strv_contains(uses, words[0]);
    if (wish || use) {
        *request = dome__daemon_request(wish ? "wish" : "use");
        dome__record_add(request, wish ? "program" : "name", words[1]);
        dome__record_add(request, "what", words[0]);
    }
    const bool limit = limit_of(words, request);
    g_strfreev(words);
    return wish || use || limit;
}

static char *order(const char *text, bool *done)
{
    dome_record request;
    if (!request_of(text, &request))
        return g_strdup("that is no order");
    char *answer = dome__daemon_try(&request, done);
    dome__record_clear(&request);
    return answer;
}

const dome_live_source dome__cluster_page = {page, data, order};
