/* Arenas, heap memory, and what happens when there is none left.
 *
 * A block is zeroed once, by calloc, and no byte of it is handed out twice; so memory comes
 * zeroed without being cleared again. Under AddressSanitizer the part of a block that nobody
 * has allocated yet is poisoned; in the hostile build so is what arena_grow has moved away from.
 */
#include "base/arena.h"
#include "base/attr.h"
#include "base/meter.h"
#include "base/vec.h"
#include <stdalign.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef ATTR_ASAN
#include <sanitizer/asan_interface.h>
#define poison(at, size) ASAN_POISON_MEMORY_REGION(at, size)
#define unpoison(at, size) ASAN_UNPOISON_MEMORY_REGION(at, size)
#else
#define poison(at, size) ((void)(at), (void)(size))
#define unpoison(at, size) ((void)(at), (void)(size))
#endif

#ifdef ACRAFT_HOSTILE
enum { HOSTILE = 1, GAP = 16 };
#else
enum { HOSTILE = 0, GAP = 0 };
#endif

enum { ALIGN = 16, BLOCK_LEAST = 4096, BLOCK_MOST = 1 << 20 };

struct ArenaBlock {
    ArenaBlock *older;
    size_t size, used; /* of bytes */
    alignas(ALIGN) unsigned char bytes[];
};

static ATTR_NORETURN void oom_default(size_t wanted)
{
    fprintf(stderr, "out of memory (wanted %zu bytes)\n", wanted);
    abort();
}

static _Atomic(OomHandler *) oom_handler;
static atomic_ulong fail_countdown;

void arena_set_oom_handler(OomHandler *handler) { atomic_store(&oom_handler, handler); }

void arena_fail_after(unsigned long n) { atomic_store(&fail_countdown, n); }

static ATTR_NORETURN void out_of_memory(size_t wanted)
{
    OomHandler *handler = atomic_load(&oom_handler);
    if (handler)
        handler(wanted);
    oom_default(wanted);
}

/* In the hostile build, whether this allocation is the one chosen to fail. */
static bool chosen_to_fail(void)
{
    if (!HOSTILE)
        return false;
    unsigned long left = atomic_load(&fail_countdown);
    while (left && !atomic_compare_exchange_weak(&fail_countdown, &left, left - 1)) {
    }
    return left == 1;
}

static size_t round_up(size_t size)
{
    if (size > SIZE_MAX / 2)
        out_of_memory(size);
    return (size + GAP + ALIGN - 1) & ~(size_t)(ALIGN - 1);
}

static size_t block_size_for(const Arena *arena, size_t need)
{
    size_t size = arena->bytes;
    if (size < BLOCK_LEAST)
        size = BLOCK_LEAST;
    if (size > BLOCK_MOST)
        size = BLOCK_MOST;
    size -= sizeof(ArenaBlock);
    size_t room = arena->limit ? arena->limit - arena->bytes : SIZE_MAX;
    if (arena->limit && (arena->bytes > arena->limit || need + sizeof(ArenaBlock) > room))
        out_of_memory(need);
    if (size + sizeof(ArenaBlock) > room)
        size = need;
    return need > size ? need : size;
}

/* A piece that fills a block by itself goes behind the newest, which still has room. */
static void link_block(Arena *arena, ArenaBlock *block, size_t need)
{
    ArenaBlock *newest = arena->block;
    if (newest && block->size == need) {
        block->older = newest->older;
        newest->older = block;
    } else {
        block->older = newest;
        arena->block = block;
    }
}

static ArenaBlock *new_block(Arena *arena, size_t need)
{
    size_t size = block_size_for(arena, need);
    ArenaBlock *block = calloc(1, sizeof *block + size);
    if (!block)
        out_of_memory(need);
    arena->bytes += sizeof *block + size;
    block->size = size;
    poison(block->bytes, size);
    link_block(arena, block, need);
    return block;
}

void *arena_alloc(Arena *arena, size_t size)
{
    size_t need = round_up(size ? size : 1);
    if (chosen_to_fail())
        out_of_memory(size);
    meter_add(1 + (size >> 8));
    ArenaBlock *block = arena->block;
    if (!block || block->size - block->used < need)
        block = new_block(arena, need);
    void *memory = block->bytes + block->used;
    block->used += need;
    unpoison(memory, size);
    return memory;
}

void *arena_alloc_array(Arena *arena, size_t count, size_t size)
{
    if (size && count > SIZE_MAX / size)
        out_of_memory(SIZE_MAX);
    return arena_alloc(arena, count * size);
}

/* Whether `old` is the last piece of the newest block and can be made longer where it is. */
static bool grow_in_place(Arena *arena, void *old, size_t old_size, size_t size)
{
    ArenaBlock *block = arena->block;
    size_t old_need = round_up(old_size ? old_size : 1), need = round_up(size);
    if (HOSTILE || !block || block->used < old_need)
        return false;
    if ((unsigned char *)old != block->bytes + (block->used - old_need))
        return false;
    if (need - old_need > block->size - block->used)
        return false;
    block->used += need - old_need;
    unpoison(old, size);
    return true;
}

void *arena_grow(Arena *arena, void *old, size_t old_size, size_t size)
{
    if (!old)
        return arena_alloc(arena, size);
    if (size <= old_size)
        return old;
    if (grow_in_place(arena, old, old_size, size))
        return old;
    void *memory = arena_alloc(arena, size);
    memcpy(memory, old, old_size);
    if (HOSTILE) {
        memset(old, 0xDD, old_size);
        poison(old, old_size);
    }
    return memory;
}

void arena_drop(Arena *arena)
{
    ArenaBlock *block = arena->block;
    while (block) {
        ArenaBlock *older = block->older;
        unpoison(block->bytes, block->size);
        free(block);
        block = older;
    }
    arena->block = NULL;
    arena->bytes = 0;
}

void *heap_alloc(size_t size)
{
    void *memory = chosen_to_fail() ? NULL : calloc(1, size ? size : 1);
    if (!memory)
        out_of_memory(size);
    return memory;
}

/* realloc, but one that never stays in place. */
static void *move_always(void *old, size_t old_size, size_t size)
{
    void *memory = malloc(size);
    if (memory && old) {
        memcpy(memory, old, old_size < size ? old_size : size);
        memset(old, 0xDD, old_size);
        free(old);
    }
    return memory;
}

void *heap_grow(void *old, size_t old_size, size_t size)
{
    size_t want = size ? size : 1;
    void *memory = NULL;
    if (!chosen_to_fail())
        memory = HOSTILE ? move_always(old, old_size, want) : realloc(old, want);
    if (!memory)
        out_of_memory(size);
    if (size > old_size)
        memset((char *)memory + old_size, 0, size - old_size);
    return memory;
}

void heap_free(void *memory) { free(memory); }

void *vec_grow_(Arena *arena, void *at, uint32_t *cap, size_t want, size_t size)
{
    size_t most = UINT32_MAX;
    if (want > most || (size && want > SIZE_MAX / 2 / size))
        out_of_memory(SIZE_MAX);
    size_t now = *cap, next = now ? now * 2 : 8;
    if (next < want)
        next = want;
    if (next > most)
        next = most;
    *cap = (uint32_t)next;
    return arena_grow(arena, at, now * size, next * size);
}
