/* Dome: distributed vectors, scalars and sparse matrices over PVM3. This header includes all that programs use;
 * structure.h is for people who add a distributed structure. */
#ifndef DOME_DOME_H
#define DOME_DOME_H

#include <dome/arrays.h>
#include <dome/comm.h>
#include <dome/dscalar.h>
#include <dome/dvec.h>
#include <dome/env.h>
#include <dome/error.h>
#include <dome/layout.h>
#include <dome/loop.h>
#include <dome/map.h>
#include <dome/ndim.h>
#include <dome/region.h>
#include <dome/sparse.h>
#include <dome/type.h>
#include <dome/version.h>

#endif
