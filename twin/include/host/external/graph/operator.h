#pragma once
#include "acraft/host/ge.h"
