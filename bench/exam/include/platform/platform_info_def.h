/* Stands in for the header of this name; see log/log.h. */
#pragma once
#include "log/log.h"
