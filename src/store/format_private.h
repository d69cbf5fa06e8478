/* Shared by the files that implement the format. */
#ifndef DOME_SRC_STORE_FORMAT_PRIVATE_H
#define DOME_SRC_STORE_FORMAT_PRIVATE_H

#include "store/format.h"

enum { DOME_CKPT_NAME_MAX = DOME_NAME_MAX };

/* Far more than fit into memory, but few enough that their bytes can be counted in 64 bits. */
static const uint64_t DOME_CKPT_ENTRIES_MAX = UINT64_C(1) << 40;

GArray *dome__ckpt_fields_new(void);
bool dome__ckpt_type_exists(const dome_ckpt *ckpt, uint32_t type);

/* Portable bytes of a struct of these fields; false on overflow. */
bool dome__ckpt_struct_bytes(const dome_ckpt *ckpt, const GArray *fields, uint64_t *bytes);

/* Sets the number of blocks; false if the description is inconsistent or its bytes overflow. */
bool dome__ckpt_object_layout(const dome_ckpt *ckpt, dome_ckpt_object *object);

uint64_t dome__ckpt_block_elements(const dome_ckpt_object *object, uint64_t block);
uint64_t dome__ckpt_fixed_length(const dome_ckpt *ckpt, const dome_ckpt_object *object, uint64_t block);

/* Whether the counters that are numbers of shapes are as the specification has them. */
bool dome__ckpt_check_shapes(const dome_ckpt *ckpt, char **message);

/* Bytes of header, directory, and table or windows; 0 if they are too many. */
uint64_t dome__ckpt_count_head(dome_ckpt *ckpt);

#endif
