/* assert of kernels, as a header of its own. */
#pragma once
#include "kernel_operator.h"
