#include "process/omp_arguments.h"

#include "openmp/places.h"
#include "process/omp_state.h"
#include "program/start.h"

#include <errno.h>
#include <glib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* There is room for the arguments of the same program when it goes on: for those with which it was begun. */
static const uint64_t LEAST = UINT64_C(4) << 20;

/* Below the heap. */
static const uint64_t PLACE = DOME_OMP_HEAP - (UINT64_C(1) << 32);

static struct {
    dome_omp_part part;
    char **environment, **own;
} placed;

/* The texts one behind the other. */
static void append_texts(GByteArray *texts, char **list, uint64_t n)
{
    for (uint64_t k = 0; k < n; k++)
        g_byte_array_append(texts, (const guint8 *)list[k], (guint)strlen(list[k]) + 1);
}

static char **take_texts(char **list, char **text, uint64_t n)
{
    for (uint64_t k = 0; k < n; k++, *text += strlen(*text) + 1)
        *list++ = *text;
    *list++ = NULL;
    return list;
}

static char *map_place(dome_env *env, uint64_t bytes)
{
    char *place = (char *)PLACE; // NOLINT(performance-no-int-to-ptr)
    void *got = mmap(place, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
    if (got != place)
        dome__start_failed(env, 1, g_strdup_printf("there is no place for the program's arguments: %s", g_strerror(errno)));
    return place;
}

/* The C library's names of the program point into the arguments that the system has made. */
static void place_names(char *name)
{
    char *slash = strrchr(name, '/');
    program_invocation_name = name;
    program_invocation_short_name = slash ? slash + 1 : name;
}

/* Whether the linker has made the C library's variable one of the program's. */
static bool is_programs(const void *variable)
{
    const dome_omp_image *i = dome__omp_image();
    return (const char *)variable >= i->code.begin && (const char *)variable < i->code.end;
}

static void send(dome_env *env, void *data, uint64_t bytes)
{
    if (dome_bcast(env, 0, DOME_U8, data, bytes))
        dome__start_failed(env, 1, dome_error_message(env));
}

char **dome__omp_arguments_place(dome_env *env, int *argc, char **argv)
{
    GByteArray *texts = g_byte_array_new();
    uint64_t numbers[] = {(uint64_t)*argc, g_strv_length(environ), 0};
    append_texts(texts, argv, numbers[0]);
    append_texts(texts, environ, numbers[1]);
    numbers[2] = texts->len;
    send(env, numbers, sizeof numbers);
    if (env->rank != 0)
        g_byte_array_set_size(texts, (guint)numbers[2]);
    send(env, texts->data, numbers[2]);
    const uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE), pointers = (numbers[0] + numbers[1] + 2) * sizeof(char *);
    const uint64_t used = (pointers + numbers[2] + page) & ~(page - 1);
    const uint64_t bytes = ((used + LEAST - 1) & ~(LEAST - 1)) + ((sizeof(dome_omp_state_page) + page - 1) & ~(page - 1));
    char *place = map_place(env, bytes), *text = place + pointers, **list = (char **)place;
    memcpy(text, texts->data, numbers[2]);
    g_byte_array_free(texts, TRUE);
    placed.part = (dome_omp_part){place, place + bytes};
    placed.own = environ;
    placed.environment = take_texts(list, &text, numbers[0]);
    take_texts(placed.environment, &text, numbers[1]);
    *argc = (int)numbers[0];
    place_names(numbers[0] ? list[0] : place + used - 1);
    if (env->rank == 0 || is_programs(&environ))
        environ = placed.own = placed.environment;
    return list;
}

dome_omp_part dome__omp_arguments_part(void)
{
    return placed.part;
}

void dome__omp_arguments_enter(char **changed)
{
    if (placed.own != placed.environment)
        environ = changed ? changed : placed.environment;
}

void dome__omp_arguments_leave(void)
{
    if (placed.own != placed.environment)
        environ = placed.own;
}
