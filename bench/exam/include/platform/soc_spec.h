/* Stands in for the header of this name; see log/log.h. */
#ifndef EXAM_SOC_SPEC_H
#define EXAM_SOC_SPEC_H
#include "tiling/platform/platform_ascendc.h"
#include <memory>
#include <set>
#include <vector>
#endif
