/* The reader of LAMMPS data files on arbitrary bytes: no crash, and what it accepts is finite. */
#include "../../examples/lammps_data.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static void require(bool condition)
{
    if (!condition)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    lammps_atoms atoms;
    char error[LAMMPS_ERROR] = "";
    if (!lammps_parse(&atoms, (const char *)data, size, error)) {
        require(memcmp(error, "line ", 5) == 0 && memchr(error, 0, sizeof error) && !strchr(error, '\n'));
        require(!atoms.x && !atoms.v);
        return 0;
    }
    require(atoms.n > 0 && atoms.n <= size / 9);
    for (int d = 0; d < 3; d++)
        require(atoms.side[d] > 0 && isfinite(atoms.side[d]));
    for (uint64_t k = 0; k < 3 * atoms.n; k++)
        require(isfinite(atoms.v[k]) && !isnan(atoms.x[k]));
    lammps_clear(&atoms);
    return 0;
}
