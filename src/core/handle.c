#include "core/handle.h"

void *dome_object_content(const dome_object *object)
{
    DOME_NEEDS(object, "the object", NULL);
    return object->content;
}

const dome_object_ops *dome_object_operations(const dome_object *object)
{
    DOME_NEEDS(object, "the object", NULL);
    return object->ops;
}

dome_env *dome_object_env(const dome_object *object)
{
    DOME_NEEDS(object, "the object", NULL);
    return object->env;
}

const char *dome_object_name(const dome_object *object)
{
    DOME_NEEDS(object, "the object", NULL);
    return object->name;
}

uint64_t dome_object_id(const dome_object *object)
{
    DOME_NEEDS(object, "the object", 0);
    return object->id;
}

void dome__object_charge(const dome_object *object, uint64_t ns)
{
    object->clock->compute_ns += ns;
}

uint64_t dome__object_recent_ns(dome_object *object)
{
    uint64_t recent = object->clock->compute_ns - object->clock->reported_ns;
    object->clock->reported_ns = object->clock->compute_ns;
    return recent;
}
