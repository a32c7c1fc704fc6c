/* printf of kernels, as a header of its own. */
#pragma once
#include "kernel_operator.h"

/* In host code printf is the C library's. */
#ifdef ACRAFT_BINDING
#include <cstdio>
#else
using AscendC::printf;
#endif
