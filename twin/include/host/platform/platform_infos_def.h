#pragma once
#include "acraft/host/platform.h"
