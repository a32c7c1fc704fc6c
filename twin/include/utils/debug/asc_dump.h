/* Prints what a pointer points at, in whichever memory. */
#pragma once
#include "kernel_operator.h"

#define ACRAFT_DUMP(NAME)                                                                          \
    template <typename T> inline void NAME(T *input, uint32_t desc, uint32_t dump_size, ACRAFT_SITE) \
    {                                                                                              \
        acraft::dump(acraft::raw_operand(input), acraft::dtype_of<T>(), desc, dump_size, site);    \
    }
ACRAFT_DUMP(asc_dump)
ACRAFT_DUMP(asc_dump_gm)
ACRAFT_DUMP(asc_dump_ubuf)
ACRAFT_DUMP(asc_dump_cbuf)
ACRAFT_DUMP(asc_dump_l1buf)
#undef ACRAFT_DUMP
