/* Kernels for platforms other than Ascend: what make, build and run do with --platform. */
#ifndef CMD_PLATFORM_H
#define CMD_PLATFORM_H

#include "cmd/cmd.h"

typedef struct PlatformAsk {
    const char *platform, *dir, *scale, *dtype;
    const NameList *sets; /* NULL: none */
    bool
        compile; /* let the platform's compiler read the files, where it is installed, and compare and time
                     what runs on this machine */
    int64_t odd; /* cases of odd sizes to compare */
} PlatformAsk;

/* Whether this is another platform than Ascend. */
bool platform_is_other(const char *platform);
/* Says what runs kernels of another platform instead of acraft run; the exit status. */
int platform_run(const char *name);
/* Writes the files of a model file and says what they are. */
int platform_write(CmdArgs *args, const PlatformAsk *ask);

#endif
