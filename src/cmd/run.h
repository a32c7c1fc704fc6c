/* The options of acraft run, as its files share them. */
#ifndef CMD_RUN_H
#define CMD_RUN_H

#include "base/file.h"
#include "twin/observe.h"
#include "twin/project.h"

typedef struct RunOptions {
    const char *kernel, *tiling;
    NameList inputs, inouts, outputs, attrs, include_dirs, defines;
    int64_t blocks, tiling_key, workspace;
    double seconds;
    uint64_t seed;
    const NpuChip *chip;
    bool trust, strict, json, time_only;
} RunOptions;

#endif
