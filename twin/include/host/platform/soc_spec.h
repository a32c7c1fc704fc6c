#include "acraft/host/platform.h"
