#include "acraft/host/tiling_api.h"
