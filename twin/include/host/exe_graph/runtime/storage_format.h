#include "acraft/host/op_def.h"
