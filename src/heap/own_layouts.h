/* Layouts that the program holds: those that it has made, or has taken a reference to. */
#ifndef DOME_SRC_HEAP_OWN_LAYOUTS_H
#define DOME_SRC_HEAP_OWN_LAYOUTS_H

#include <dome/layout.h>
#include <glib.h>

typedef struct dome_capture_own_layout {
    dome_layout *layout;
    uint64_t references; /* of the program's */
    bool used;           /* after a restart: a pointer leads to it */
} dome_capture_own_layout;

typedef struct dome_capture_held_layouts {
    GArray *held; /* dome_capture_own_layout */
} dome_capture_held_layouts;

/* Layout k, in the order in which the program got them; NULL: there are no more. Holds until the program gets or frees one. */
dome_capture_own_layout *dome__capture_own_layout(size_t k);

/* For a restart: the program holds a new layout, with so many references (at least 1). */
void dome__capture_own_layout_restore(dome_layout *layout, uint64_t references);

/* Frees those of the first `count` to which no pointer leads. */
void dome__capture_own_layouts_drop(size_t count);

#endif
