/* An arena: memory that is allocated piece by piece and freed all at once.
 *
 *     Arena a = {0};                       +--------+   +--------+
 *     Foo *f = arena_new(&a, Foo);         | block  |<--| block  |<-- a.block
 *     arena_drop(&a);                      +--------+   +--------+
 *
 * One per compilation, per task, per simulation. Memory comes zeroed. Allocation never
 * returns NULL: when the system has no more (or the arena is at its own limit) the
 * out-of-memory handler runs and does not come back.
 */
#ifndef BASE_ARENA_H
#define BASE_ARENA_H

#include <stddef.h>

typedef struct ArenaBlock ArenaBlock;

typedef struct Arena {
    ArenaBlock *block; /* the newest block */
    size_t bytes;      /* allocated from the system so far */
    size_t limit;      /* most it may allocate; 0: no limit */
} Arena;

void *arena_alloc(Arena *arena, size_t size);
void *arena_alloc_array(Arena *arena, size_t count, size_t size);
/* Grows what `old` holds to `size` bytes; may move. The hostile build always moves. */
void *arena_grow(Arena *arena, void *old, size_t old_size, size_t size);
/* Keeps the arena usable, gives everything back to the system. */
void arena_drop(Arena *arena);

#define arena_new(arena, type) ((type *)arena_alloc((arena), sizeof(type)))
#define arena_array(arena, type, count) ((type *)arena_alloc_array((arena), (count), sizeof(type)))

/* Heap memory for what outlives an arena; same out-of-memory rule, zeroed. */
void *heap_alloc(size_t size);
void *heap_grow(void *old, size_t old_size, size_t size);
void heap_free(void *memory);

/* What to do when memory is gone. The default prints one line and aborts; `src/cmd` installs
 * one that prints and exits with status 3. Must not return. */
typedef void OomHandler(size_t wanted);
void arena_set_oom_handler(OomHandler *handler);
/* Hostile build only: makes the n-th allocation from now fail; 0 switches it off. */
void arena_fail_after(unsigned long n);

#endif
