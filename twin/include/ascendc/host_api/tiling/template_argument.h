/* Template parameters of a kernel and how a tiling key says them (ASCENDC_TPL_*). */
#include "acraft/template_args.h"
