/* opbase's math_util.h for kernels. */
#include "acraft/op_common.h"
