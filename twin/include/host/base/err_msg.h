/* Error reports of the runtime: said nowhere here. */
#include "common/util/error_manager/error_manager.h"
