/* The sandbox: runs a program nobody vouches for (a compiler fed with foreign text, the kernel
 * made from it, a host tiling function) behind walls, under limits, with every end named.
 *
 *     BoxSpec spec = {.argv = argv, .profile = BOX_TOOL, .writable = dir, .seconds = 10};
 *     BoxResult r;
 *     box_run(arena, &spec, &r);
 *     if (r.end == BOX_EXITED && r.status == 0) ...
 *
 * In: a program, the paths it may read, one directory it may write, descriptors it inherits.
 * Out: how it ended, what it printed, which walls stood. The walls are a ladder: own namespaces
 * with an empty root where the machine allows them, Landlock, a system call filter, resource
 * limits. What a missing wall leaves open is covered by another one or named; a child whose
 * files, network, signals or system calls would be open is refused unless `allow_missing`.
 *
 * A child dies with the thread that started it, and everything it started dies with it.
 */
#ifndef BOX_BOX_H
#define BOX_BOX_H

#include "base/str.h"

typedef enum BoxWall {
#define WALL(name, text) BOX_WALL_##name,
#include "box/walls.def"
#undef WALL
    BOX_WALL_COUNT
} BoxWall;

typedef enum BoxEnd {
#define END(name, text) BOX_##name,
#include "box/ends.def"
#undef END
    BOX_END_COUNT
} BoxEnd;

/* Which system calls the child may make; rows in calls.def. */
typedef enum BoxProfile {
    BOX_TOOL,   /* files, processes, no sockets: compilers and linkers */
    BOX_ZYGOTE, /* no files, fork; may lock itself up further with box_core_filter */
} BoxProfile;

/* A child that runs out of memory and knows it exits with this status. */
enum { BOX_STATUS_MEMORY = 97 };

typedef struct BoxSpec {
    const char *const *argv; /* ends with NULL; argv[0] an absolute path when exe_fd is -1 */
    const char *const *env;  /* ends with NULL; NULL: empty. Nothing else is inherited */
    int exe_fd;              /* the program as an open file; 0 or -1: argv[0] */
    BoxProfile profile;
    const char *const *readable; /* absolute paths, seen at the same place; ends with NULL */
    const char *writable;        /* one absolute directory, also the working directory */
    const int *fds;              /* become 3, 4, ... in the child */
    uint32_t fd_count;
    double seconds;         /* wall clock; 0: 10 */
    double cpu_seconds;     /* per process; 0: seconds, rounded up */
    uint64_t memory;        /* private bytes per process; 0: 1 GiB */
    uint64_t address_space; /* bytes, shared mappings included; 0: no limit */
    uint64_t file_bytes;    /* the largest file it may write; 0: 64 MiB */
    uint64_t output;        /* bytes of stdout and stderr together; 0: 1 MiB */
    uint64_t stack;         /* bytes; 0: 8 MiB */
    uint32_t processes;     /* 0: 32 */
    uint32_t files;         /* open at once; 0: 64 */
    bool as_self; /* started by root: read files as root does, not as a stranger; the number of
                              processes is then not limited, so only for programs that are known */
    bool allow_missing; /* run even where a wall is missing */
    uint32_t without;   /* walls not to put up, as bits: for the tests of the ladder */
} BoxSpec;

typedef struct BoxResult {
    BoxEnd end;
    int status;          /* exit status, or the signal's number */
    uint32_t walls;      /* bits (1u << BOX_WALL_...) that stood */
    const char *missing; /* what stood open: "files, network"; NULL: nothing */
    const char *reason;  /* REFUSED, FAILED: why, one line; else NULL */
    Str out, err;        /* cut at the output limit */
    double seconds, cpu_seconds;
    uint64_t peak_memory; /* resident bytes of the largest process */
} BoxResult;

typedef struct Box Box;

/* Starts a child. NULL when it could not be started; *result says why. The arena must outlive the box. */
Box *box_start(Arena *arena, const BoxSpec *spec, BoxResult *result);
/* Takes in what the child wrote and enforces deadline and output limit; waits up to
 * `milliseconds` for something to happen (0: not at all). True once the child has ended. */
bool box_step(Box *box, int milliseconds);
void box_kill(Box *box);
/* Waits for the end, fills *result and gives everything back. Call exactly once. */
void box_finish(Box *box, BoxResult *result);
void box_run(Arena *arena, const BoxSpec *spec, BoxResult *result);

const char *box_end_text(BoxEnd end);
const char *box_wall_text(BoxWall wall);
/* "user namespace, mount namespace, ..." */
const char *box_walls_text(Arena *arena, uint32_t walls);
/* The walls this machine gives, found by trying; `missing` as in BoxResult. */
uint32_t box_probe(Arena *arena, const char **missing);
/* The filter of profile C as classic BPF instructions (struct sock_filter), for a zygote to put
 * on its core processes. Empty when this machine has no seccomp. */
Str box_core_filter(Arena *arena);
/* Name of a system call of this machine, for messages; "system call 999" when unknown. */
const char *box_call_name(Arena *arena, int number);

#endif
