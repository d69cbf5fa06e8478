#include "eval/vector.h"

void dvec__written(dvec *x)
{
    x->version++;
    g_clear_pointer(&x->dirty, g_free);
}
