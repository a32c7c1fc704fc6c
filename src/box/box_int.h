/* Between the parent's side of the box (box.c) and the child's (child.c, root.c, landlock.c).
 *
 * The child is a copy of a process that may have threads, so between clone and exec it acquires no
 * memory and prints nothing: all it needs is laid out here before, what it has to say goes
 * through the report pipe. */
#ifndef BOX_BOX_INT_H
#define BOX_BOX_INT_H

#include "box/box.h"
#include <linux/filter.h>
#include <sys/types.h>

#define WALL_BIT(name) (1u << BOX_WALL_##name)

/* A path that enters the new root; `target` is it without the leading slash. */
typedef struct BoxMount {
    const char *source, *target;
    bool writable, is_dir, is_device;
    int tree; /* detached copy, between box_root_collect and box_root_build */
} BoxMount;

/* What the child reports just before exec, or when it gives up. */
typedef struct BoxReport {
    uint32_t walls;
    uint32_t open;   /* bits of BoxHole that no wall covers */
    int error;       /* errno of the step that failed; 0: none */
    bool no_program; /* it was the last one, exec */
    char step[40];
} BoxReport;

typedef enum BoxHole { HOLE_FILES, HOLE_NETWORK, HOLE_SIGNALS, HOLE_CALLS, HOLE_COUNT } BoxHole;

typedef struct BoxPlan {
    const BoxSpec *spec;
    char *const *argv, *const *env;
    BoxMount *mounts;
    uint32_t mount_count;
    struct sock_fprog filter; /* len 0: no filter on this machine */
    uint32_t walls;           /* namespaces that the clone gave */
    int go;                   /* read end: one byte once the parent has written the maps */
    int report, in, out, err;
    bool is_root;   /* started by root */
    bool at_exec;   /* in the child: everything else is done */
    unsigned outer; /* the user that the child is to the machine */
} BoxPlan;

/* A profile's filter of system calls (calls.c). */
typedef enum CallProfile { T = 1, Z = 2, C = 4, W = 8 } CallProfile;
Str box_calls_filter(Arena *arena, CallProfile profile);

/* Collect runs before the user is changed, build after it. Both return false with errno set
 * (root.c). */
bool box_root_collect(const BoxPlan *plan);
bool box_root_build(const BoxPlan *plan);

/* Enters Landlock and returns the walls that stand from now on, LANDLOCK and SCOPE (landlock.c). */
uint32_t box_landlock_enter(const BoxPlan *plan);

/* Never returns (child.c). */
ATTR_NORETURN void box_child_main(BoxPlan *plan);

#endif
