/* Kernels for platforms other than Ascend: what make, build and run do with --platform. */
#ifndef CMD_PLATFORM_H
#define CMD_PLATFORM_H

#include "cmd/cmd.h"
#include "platform/platform.h"

typedef struct PlatformAsk {
    const char *platform, *dir, *scale, *dtype;
    const NameList *sets; /* NULL: none */
    bool
        compile; /* let the platform's compiler read the files, where it is installed, and compare and time
                     what runs on this machine */
    int64_t odd; /* cases of odd sizes to compare */
    bool tf32;   /* factors of products may be rounded to tf32 */
} PlatformAsk;

/* Whether this is another platform than Ascend. */
bool platform_is_other(const char *platform);
const Platform *
platform_named(const char *name); /* NULL: there is no such platform, and a message says so */
/* Whether the platform's kernels run on this machine. Prints why where they do not. */
bool platform_can_run(Arena *arena, const Platform *platform, const char *command);
/* Whether make or build wrote this directory for another platform. */
bool platform_wrote(Arena *arena, const char *dir);
/* acraft run of such a directory: its texts, at the sizes they have. name: the platform asked for; NULL: its own. */
int platform_run(CmdArgs *args, const char *name, CompareRule rule);
/* Writes the files of a model file and says what they are. */
int platform_write(CmdArgs *args, const PlatformAsk *ask);

#endif
