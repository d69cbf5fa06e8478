#include "ckpt/interval.h"

#include <math.h>

double dome__interval_young(double cost, double mtbf)
{
    return sqrt(2 * cost * mtbf);
}

double dome__interval_daly(double cost, double mtbf)
{
    if (!(cost < 2 * mtbf))
        return mtbf;
    double part = cost / (2 * mtbf);
    return dome__interval_young(cost, mtbf) * (1 + sqrt(part) / 3 + part / 9) - cost;
}

double dome__interval_first(double every, double copying)
{
    static const double SECONDS = 1, SHARE = 0.1;
    return fmax(fmin(every, SECONDS), copying / SHARE);
}
