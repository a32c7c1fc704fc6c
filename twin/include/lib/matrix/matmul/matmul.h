#pragma once
#include "kernel_operator.h"
#include "acraft/matmul.h"
