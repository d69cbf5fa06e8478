/* libhdf5, which is loaded when a program uses its first HDF5 file: Debian's brings thirty other libraries along, which would
 * slow down the start of every program. */
#ifndef DOME_SRC_HDF5_LIBRARY_H
#define DOME_SRC_HDF5_LIBRARY_H

#define H5_USE_110_API /* later versions have changed H5Oget_info */
#include <hdf5.h>

#include <stdbool.h>

/* In the library's macros: its check of versions ends the process, dome__hdf5_load has one of its own; and H5open is called
 * there. */
#undef H5CHECK
#define H5CHECK
#undef H5OPEN
#define H5OPEN

/* The functions, and numbers of types and classes, that are used here. */
#define DOME_HDF5_FUNCTIONS(X)                                                                                                   \
    X(H5Dclose)                                                                                                                  \
    X(H5Dcreate2)                                                                                                                \
    X(H5Dcreate_anon)                                                                                                            \
    X(H5Dget_create_plist)                                                                                                       \
    X(H5Dget_offset)                                                                                                             \
    X(H5Dget_space)                                                                                                              \
    X(H5Dget_space_status)                                                                                                       \
    X(H5Dget_storage_size)                                                                                                       \
    X(H5Dget_type)                                                                                                               \
    X(H5Dopen2)                                                                                                                  \
    X(H5Dread)                                                                                                                   \
    X(H5Eget_auto2)                                                                                                              \
    X(H5Eset_auto2)                                                                                                              \
    X(H5Ewalk2)                                                                                                                  \
    X(H5Fclose)                                                                                                                  \
    X(H5Fcreate)                                                                                                                 \
    X(H5Fget_create_plist)                                                                                                       \
    X(H5Fflush)                                                                                                                  \
    X(H5Fget_eoa)                                                                                                                \
    X(H5Fis_hdf5)                                                                                                                \
    X(H5Fopen)                                                                                                                   \
    X(H5Gget_info)                                                                                                               \
    X(H5Iget_type)                                                                                                               \
    X(H5Ldelete)                                                                                                                 \
    X(H5Lexists)                                                                                                                 \
    X(H5Lget_name_by_idx)                                                                                                        \
    X(H5Lmove)                                                                                                                   \
    X(H5Oclose)                                                                                                                  \
    X(H5Oget_info2)                                                                                                              \
    X(H5Oget_info_by_name2)                                                                                                      \
    X(H5Olink)                                                                                                                   \
    X(H5Oopen)                                                                                                                   \
    X(H5Ovisit2)                                                                                                                 \
    X(H5Pclose)                                                                                                                  \
    X(H5Pcreate)                                                                                                                 \
    X(H5Pget_external_count)                                                                                                     \
    X(H5Pget_filter2)                                                                                                            \
    X(H5Pget_layout)                                                                                                             \
    X(H5Pget_nfilters)                                                                                                           \
    X(H5Pget_userblock)                                                                                                          \
    X(H5Pset_alignment)                                                                                                          \
    X(H5Pset_alloc_time)                                                                                                         \
    X(H5Pset_chunk_cache)                                                                                                        \
    X(H5Pset_create_intermediate_group)                                                                                          \
    X(H5Pset_file_locking)                                                                                                       \
    X(H5Pset_fill_time)                                                                                                          \
    X(H5Pset_layout)                                                                                                             \
    X(H5Pset_obj_track_times)                                                                                                    \
    X(H5Sclose)                                                                                                                  \
    X(H5Screate_simple)                                                                                                          \
    X(H5Sget_simple_extent_dims)                                                                                                 \
    X(H5Sget_simple_extent_type)                                                                                                 \
    X(H5Sselect_hyperslab)                                                                                                       \
    X(H5Tarray_create2)                                                                                                          \
    X(H5Tclose)                                                                                                                  \
    X(H5Tcopy)                                                                                                                   \
    X(H5Tcreate)                                                                                                                 \
    X(H5Tequal)                                                                                                                  \
    X(H5Tget_array_dims2)                                                                                                        \
    X(H5Tget_array_ndims)                                                                                                        \
    X(H5Tget_class)                                                                                                              \
    X(H5Tget_member_name)                                                                                                        \
    X(H5Tget_member_offset)                                                                                                      \
    X(H5Tget_member_type)                                                                                                        \
    X(H5Tget_member_value)                                                                                                       \
    X(H5Tget_nmembers)                                                                                                           \
    X(H5Tget_order)                                                                                                              \
    X(H5Tget_precision)                                                                                                          \
    X(H5Tget_sign)                                                                                                               \
    X(H5Tget_size)                                                                                                               \
    X(H5Tget_super)                                                                                                              \
    X(H5Tinsert)                                                                                                                 \
    X(H5Zfilter_avail)                                                                                                           \
    X(H5free_memory)                                                                                                             \
    X(H5get_libversion)                                                                                                          \
    X(H5open)

#define DOME_HDF5_NUMBERS(X)                                                                                                     \
    X(H5P_CLS_FILE_ACCESS_ID_g)                                                                                                  \
    X(H5P_CLS_DATASET_CREATE_ID_g)                                                                                               \
    X(H5P_CLS_DATASET_ACCESS_ID_g)                                                                                               \
    X(H5P_CLS_LINK_CREATE_ID_g)                                                                                                  \
    X(H5T_IEEE_F32LE_g)                                                                                                          \
    X(H5T_IEEE_F32BE_g)                                                                                                          \
    X(H5T_IEEE_F64LE_g)                                                                                                          \
    X(H5T_IEEE_F64BE_g)                                                                                                          \
    X(H5T_STD_I8LE_g)                                                                                                            \
    X(H5T_STD_I16LE_g)                                                                                                           \
    X(H5T_STD_I32LE_g)                                                                                                           \
    X(H5T_STD_I64LE_g)                                                                                                           \
    X(H5T_STD_U8LE_g)                                                                                                            \
    X(H5T_STD_U16LE_g)                                                                                                           \
    X(H5T_STD_U32LE_g)                                                                                                           \
    X(H5T_STD_U64LE_g)

/* Functions and numbers by their names. */
typedef struct dome_hdf5_library {
#define DOME_HDF5_FUNCTION(name) __typeof__(name) *name;
#define DOME_HDF5_NUMBER(name)   hid_t *name;
    DOME_HDF5_FUNCTIONS(DOME_HDF5_FUNCTION)
    DOME_HDF5_NUMBERS(DOME_HDF5_NUMBER)
#undef DOME_HDF5_FUNCTION
#undef DOME_HDF5_NUMBER
} dome_hdf5_library;

extern dome_hdf5_library dome__h5;

/* Loads it, if that has not been done. False with a message: a text to follow "'FILE' ", g_free'd by the caller. */
bool dome__hdf5_load(char **message);

/* Between begin and end the library prints nothing. */
typedef struct dome_hdf5_quiet {
    H5E_auto2_t function;
    void *data;
} dome_hdf5_quiet;

void dome__hdf5_quiet_begin(dome_hdf5_quiet *quiet);
void dome__hdf5_quiet_end(const dome_hdf5_quiet *quiet);

#endif
