#include "objects/apart.h"

#include <glib.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* What the function changes, its own process alone sees. */
static void *answer(void *ctx, size_t *bytes)
{
    size_t *length = ctx;
    char *text = g_malloc0(*length + 1);
    memset(text, 'x', *length);
    *bytes = *length;
    *length = 0;
    return text;
}

static void *crash(void *ctx, size_t *bytes)
{
    (void)ctx, (void)bytes;
    raise(SIGSEGV);
    return NULL;
}

static void *leave(void *ctx, size_t *bytes)
{
    (void)ctx, (void)bytes;
    _exit(0);
}

static void test_answers(void)
{
    static const size_t lengths[] = {0, 1, 4096, 1000000};
    for (size_t i = 0; i < G_N_ELEMENTS(lengths); i++) {
        size_t length = lengths[i], bytes = 1;
        const char *reason;
        char *found = dome__apart(answer, &length, &bytes, &reason);
        g_assert_nonnull(found);
        g_assert_cmpuint(bytes, ==, lengths[i]);
        g_assert_cmpuint(length, ==, lengths[i]);
        for (size_t k = 0; k < bytes; k++)
            g_assert_cmpint(found[k], ==, 'x');
        g_free(found);
    }
}

static void test_ends(void)
{
    const char *reason = NULL;
    size_t bytes;
    g_assert_null(dome__apart(crash, NULL, &bytes, &reason));
    g_assert_cmpstr(reason, ==, "crashes");
    g_assert_null(dome__apart(leave, NULL, &bytes, &reason));
    g_assert_cmpstr(reason, ==, "crashes");
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/apart/answers", test_answers);
    g_test_add_func("/apart/ends", test_ends);
    return g_test_run();
}
