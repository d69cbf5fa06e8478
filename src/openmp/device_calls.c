/* omp_* functions about devices. The host is the only device: it is device 0, and the "initial device". */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "openmp/memory_openmp.h"
#include "openmp/team.h"

int omp_get_num_devices(void)
{
    return 0;
}

int omp_get_initial_device(void)
{
    return 0;
}

int omp_get_device_num(void)
{
    return 0;
}

int omp_is_initial_device(void)
{
    return 1;
}

void omp_set_default_device(int device)
{
    dome__omp_self()->variables.device = device >= 0 ? device : 0;
}

int omp_get_default_device(void)
{
    return dome__omp_self()->variables.device;
}

/* The program's memory, whichever device is named. */
void *omp_target_alloc(size_t bytes, int device)
{
    return device == 0 ? dome__omp_allocate(bytes, 64) : NULL;
}

void omp_target_free(void *memory, int device)
{
    (void)device;
    dome__omp_release(memory);
}

int omp_target_is_present(const void *memory, int device)
{
    (void)memory;
    return device == 0;
}

int omp_target_memcpy(void *to, const void *from, size_t bytes, size_t to_offset, size_t from_offset, int to_device,
                      int from_device)
{
    if (to_device != 0 || from_device != 0)
        return EINVAL;
    memcpy((char *)to + to_offset, (const char *)from + from_offset, bytes);
    return 0;
}

typedef struct box {
    size_t element;
    int dimensions;
    const size_t *volume, *to_offset, *from_offset, *to_size, *from_size;
} box;

static void copy_box(char *to, const char *from, box b)
{
    size_t to_step = b.element, from_step = b.element;
    for (int k = 1; k < b.dimensions; k++) {
        to_step *= b.to_size[k];
        from_step *= b.from_size[k];
    }
    to += b.to_offset[0] * to_step;
    from += b.from_offset[0] * from_step;
    if (b.dimensions == 1) {
        memcpy(to, from, b.volume[0] * b.element);
        return;
    }
    box inner = {b.element, b.dimensions - 1, b.volume + 1, b.to_offset + 1, b.from_offset + 1, b.to_size + 1, b.from_size + 1};
    for (size_t k = 0; k < b.volume[0]; k++)
        copy_box(to + k * to_step, from + k * from_step, inner);
}

int omp_target_memcpy_rect(void *to, const void *from, size_t element, int dimensions, const size_t *volume,
                           const size_t *to_offset, const size_t *from_offset, const size_t *to_size, const size_t *from_size,
                           int to_device, int from_device)
{
    if (!to && !from)
        return INT32_MAX; /* so many dimensions may be asked for */
    if (to_device != 0 || from_device != 0 || dimensions < 1)
        return EINVAL;
    copy_box(to, from, (box){element, dimensions, volume, to_offset, from_offset, to_size, from_size});
    return 0;
}

int omp_target_associate_ptr(const void *host, const void *device, size_t bytes, size_t offset, int number)
{
    (void)host, (void)device, (void)bytes, (void)offset, (void)number;
    return EINVAL;
}

int omp_target_disassociate_ptr(const void *host, int number)
{
    (void)host, (void)number;
    return EINVAL;
}

int omp_pause_resource(int kind, int device)
{
    (void)kind;
    return device != 0;
}

int omp_pause_resource_all(int kind)
{
    (void)kind;
    return 0;
}

/* ---- for Fortran ---- */

#define FORTRAN_GET(name)                                                                                                        \
    int name##_(void)                                                                                                            \
    {                                                                                                                            \
        return name();                                                                                                           \
    }

FORTRAN_GET(omp_get_num_devices)
FORTRAN_GET(omp_get_initial_device)
FORTRAN_GET(omp_get_device_num)
FORTRAN_GET(omp_is_initial_device)
FORTRAN_GET(omp_get_default_device)

void omp_set_default_device_(const int *device)
{
    omp_set_default_device(*device);
}

void omp_set_default_device_8_(const long *device)
{
    omp_set_default_device((int)*device);
}

int omp_pause_resource_(const int *kind, const int *device)
{
    return omp_pause_resource(*kind, *device);
}

int omp_pause_resource_all_(const int *kind)
{
    return omp_pause_resource_all(*kind);
}
