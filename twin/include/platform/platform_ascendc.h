/* For kernel files whose host half asks about the chip. */
#pragma once
#include "acraft/host/platform.h"
