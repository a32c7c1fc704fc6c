/* Error reports of the runtime: not printed here. */
#include "common/util/error_manager/error_manager.h"
