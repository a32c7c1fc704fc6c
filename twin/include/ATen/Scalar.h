/* Host code of bindings finds everything of PyTorch in one place. */
#pragma once
#include "acraft/bind/npu.h"
