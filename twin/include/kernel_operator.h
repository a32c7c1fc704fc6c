/* The kernel API of AscendC for Atlas A2, as acraft provides it. */
#ifndef ACRAFT_KERNEL_OPERATOR_H
#define ACRAFT_KERNEL_OPERATOR_H

#include "acraft/debug.h"
#include "acraft/dt.h"
#include "acraft/launch.h"
#include "acraft/refused.h"
#include "acraft/std.h"

#endif
