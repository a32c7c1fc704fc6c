#pragma once
#include "acraft/host/tiling_def.h"
