#pragma once
#include "acraft/host/op_def.h"
