/* opbase's infershape_elewise_util.h, as op_host code includes it. */
#include "acraft/host/op_common.h"
