/* Functions of the C library that read from the standard input. It is task 0's: elsewhere they would find its end. */
#include "clib/omp_call.h"

#include "process/omp_streams.h"

#include <stdarg.h>
#include <stdio.h>

#define INPUT(type, name, parameters, arguments, file)                                                                           \
    type own_##name parameters __asm__("dome__c_" #name);                                                                        \
    type own_##name parameters                                                                                                   \
    {                                                                                                                            \
        static type(*next) parameters;                                                                                           \
        if (!next)                                                                                                               \
            next = (type(*) parameters)dome__omp_next(#name);                                                                    \
        dome__omp_stream_read(file);                                                                                             \
        return next arguments;                                                                                                   \
    }

INPUT(int, fgetc, (FILE * file), (file), file)
INPUT(int, getc, (FILE * file), (file), file)
INPUT(int, getchar, (void), (), stdin)
INPUT(char *, fgets, (char *to, int bytes, FILE *file), (to, bytes, file), file)
INPUT(int, vfscanf, (FILE * file, const char *format, va_list to), (file, format, to), file)
INPUT(int, vscanf, (const char *format, va_list to), (format, to), stdin)
INPUT(int, __isoc99_vfscanf, (FILE * file, const char *format, va_list to), (file, format, to), file)
INPUT(int, __isoc99_vscanf, (const char *format, va_list to), (format, to), stdin)

/* Those with arguments of any number, by those with a list. */
#define SCAN(name, by)                                                                                                           \
    int own_##name(const char *format, ...) __asm__("dome__c_" #name);                                                           \
    int own_##name(const char *format, ...)                                                                                      \
    {                                                                                                                            \
        va_list to;                                                                                                              \
        va_start(to, format);                                                                                                    \
        const int n = own_##by(format, to);                                                                                      \
        va_end(to);                                                                                                              \
        return n;                                                                                                                \
    }

#define SCAN_FILE(name, by)                                                                                                      \
    int own_##name(FILE *file, const char *format, ...) __asm__("dome__c_" #name);                                               \
    int own_##name(FILE *file, const char *format, ...)                                                                          \
    {                                                                                                                            \
        va_list to;                                                                                                              \
        va_start(to, format);                                                                                                    \
        const int n = own_##by(file, format, to);                                                                                \
        va_end(to);                                                                                                              \
        return n;                                                                                                                \
    }

SCAN(scanf, vscanf)
SCAN(__isoc99_scanf, __isoc99_vscanf)
SCAN_FILE(fscanf, vfscanf)
SCAN_FILE(__isoc99_fscanf, __isoc99_vfscanf)
