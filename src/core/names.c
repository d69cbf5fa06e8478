#include "core/names.h"

#include <glib.h>

#include <pthread.h>

/* OLD_NAMES: the most texts kept of numbers no longer in use. LONGEST: bytes of a text. */
enum { OLD_NAMES = 512, LONGEST = 100 };

typedef struct name {
    uint64_t number;
    char *text;
    GList *old; /* its link in the queue of old names; NULL: in use */
} name;

struct dome_names {
    pthread_mutex_t lock;
    GHashTable *names; /* by number */
    GQueue old;        /* next to be removed first */
};

static void name_free(gpointer data)
{
    name *n = data;
    g_free(n->text);
    g_free(n);
}

dome_names *dome__names_new(void)
{
    dome_names *names = g_new0(dome_names, 1);
    pthread_mutex_init(&names->lock, NULL);
    names->names = g_hash_table_new_full(g_int64_hash, g_int64_equal, NULL, name_free);
    g_queue_init(&names->old);
    return names;
}

void dome__names_free(dome_names *names)
{
    if (!names)
        return;
    g_queue_clear(&names->old);
    g_hash_table_destroy(names->names);
    pthread_mutex_destroy(&names->lock);
    g_free(names);
}

static name *put(dome_names *names, uint64_t number, const char *text)
{
    name *n = g_hash_table_lookup(names->names, &number);
    if (!n) {
        n = g_new0(name, 1);
        n->number = number;
        g_hash_table_insert(names->names, &n->number, n);
    }
    g_free(n->text);
    n->text = g_strndup(text, LONGEST);
    if (n->old) {
        g_queue_delete_link(&names->old, n->old);
        n->old = NULL;
    }
    return n;
}

static void let_go(dome_names *names, name *n)
{
    if (n->old)
        return;
    g_queue_push_tail(&names->old, n);
    n->old = g_queue_peek_tail_link(&names->old);
    if (g_queue_get_length(&names->old) > OLD_NAMES) {
        name *first = g_queue_pop_head(&names->old);
        g_hash_table_remove(names->names, &first->number);
    }
}

void dome__names_keep(dome_names *names, uint64_t number, const char *text)
{
    pthread_mutex_lock(&names->lock);
    put(names, number, text);
    pthread_mutex_unlock(&names->lock);
}

void dome__names_drop(dome_names *names, uint64_t number)
{
    pthread_mutex_lock(&names->lock);
    name *n = g_hash_table_lookup(names->names, &number);
    if (n)
        let_go(names, n);
    pthread_mutex_unlock(&names->lock);
}

void dome__names_recall(dome_names *names, uint64_t number, const char *text)
{
    pthread_mutex_lock(&names->lock);
    let_go(names, put(names, number, text));
    pthread_mutex_unlock(&names->lock);
}

char *dome__names_find(dome_names *names, uint64_t number)
{
    pthread_mutex_lock(&names->lock);
    const name *n = g_hash_table_lookup(names->names, &number);
    char *text = n ? g_strdup(n->text) : NULL;
    pthread_mutex_unlock(&names->lock);
    return text;
}
