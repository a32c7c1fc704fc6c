#include "acraft/c_types.h"
