/* target: the host is the only device, so data is where it is needed, and a target region is a call. */
#include <string.h>

#include "openmp/task.h"
#include "openmp/team.h"

/* The low byte of a kind: the address stands for a value that the region has a copy of. */
enum { FIRSTPRIVATE = 12, FIRSTPRIVATE_BITS = 0xff, ALIGNMENT_SHIFT = 8 };

typedef struct variables {
    size_t count;
    void **addresses;
    const size_t *bytes;
    const unsigned short *kinds;
} variables;

static size_t alignment_of(const variables *v, size_t k)
{
    return (size_t)1 << (v->kinds[k] >> ALIGNMENT_SHIFT);
}

static bool is_copied(const variables *v, size_t k)
{
    return v->kinds && (v->kinds[k] & FIRSTPRIVATE_BITS) == FIRSTPRIVATE;
}

static size_t bytes_of_copies(const variables *v)
{
    size_t bytes = 1;
    for (size_t k = 0; k < v->count; k++)
        if (is_copied(v, k))
            bytes += v->bytes[k] + alignment_of(v, k);
    return bytes;
}

static void copy(const variables *v, char *room)
{
    for (size_t k = 0; k < v->count; k++)
        if (is_copied(v, k)) {
            size_t alignment = alignment_of(v, k);
            room = (char *)(((uintptr_t)room + alignment - 1) / alignment * alignment);
            memcpy(room, v->addresses[k], v->bytes[k]);
            v->addresses[k] = room;
            room += v->bytes[k];
        }
}

static void call(void (*function)(void *), const variables *v)
{
    dome_omp_thread *t = dome__omp_self();
    dome_omp_variables before = t->variables;
    char room[bytes_of_copies(v)];
    copy(v, room);
    function(v->addresses);
    t->variables = before;
}

void GOMP_target(int device, void (*function)(void *), const void *unused, size_t count, void **addresses, size_t *bytes,
                 unsigned char *kinds)
{
    (void)device;
    (void)unused;
    (void)kinds;
    call(function, &(variables){count, addresses, bytes, NULL});
}

void GOMP_target_ext(int device, void (*function)(void *), size_t count, void **addresses, size_t *bytes, unsigned short *kinds,
                     unsigned flags, void **dependences, void **arguments)
{
    (void)device;
    (void)flags;
    (void)arguments;
    if (dependences)
        dome__omp_tasks_finish(dome__omp_self());
    call(function, &(variables){count, addresses, bytes, kinds});
}

void GOMP_target_data(int device, const void *unused, size_t count, void **addresses, size_t *bytes, unsigned char *kinds)
{
    (void)device, (void)unused, (void)count, (void)addresses, (void)bytes, (void)kinds;
}

void GOMP_target_data_ext(int device, size_t count, void **addresses, size_t *bytes, unsigned short *kinds)
{
    (void)device, (void)count, (void)addresses, (void)bytes, (void)kinds;
}

void GOMP_target_end_data(void)
{
}

void GOMP_target_update(int device, const void *unused, size_t count, void **addresses, size_t *bytes, unsigned char *kinds)
{
    (void)device, (void)unused, (void)count, (void)addresses, (void)bytes, (void)kinds;
}

void GOMP_target_update_ext(int device, size_t count, void **addresses, size_t *bytes, unsigned short *kinds, unsigned flags,
                            void **dependences)
{
    (void)device, (void)count, (void)addresses, (void)bytes, (void)kinds, (void)flags;
    if (dependences)
        dome__omp_tasks_finish(dome__omp_self());
}

void GOMP_target_enter_exit_data(int device, size_t count, void **addresses, size_t *bytes, unsigned short *kinds, unsigned flags,
                                 void **dependences)
{
    (void)device, (void)count, (void)addresses, (void)bytes, (void)kinds, (void)flags;
    if (dependences)
        dome__omp_tasks_finish(dome__omp_self());
}

/* Code for other devices, which there are not. */
void GOMP_offload_register(const void *table, int type, const void *data)
{
    (void)table, (void)type, (void)data;
}

void GOMP_offload_register_ver(unsigned version, const void *table, int type, const void *data)
{
    (void)version, (void)table, (void)type, (void)data;
}

void GOMP_offload_unregister(const void *table, int type, const void *data)
{
    (void)table, (void)type, (void)data;
}

void GOMP_offload_unregister_ver(unsigned version, const void *table, int type, const void *data)
{
    (void)version, (void)table, (void)type, (void)data;
}
