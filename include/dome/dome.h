/* Dome: distributed vectors and scalars over PVM3. This header includes all of the library. */
#ifndef DOME_DOME_H
#define DOME_DOME_H

#include <dome/dscalar.h>
#include <dome/dvec.h>
#include <dome/env.h>
#include <dome/error.h>
#include <dome/layout.h>
#include <dome/map.h>
#include <dome/object.h>
#include <dome/type.h>

#endif
