/* GM as a core's code sees it; included once, by core_rt.c.
 *
 * A core process does not have GM. A read becomes a record, and its element comes back
 * through the view when the simulator has executed it. GetValue takes it from there
 * (acraft_ring_read); for a load through a plain pointer the compiler calls the runtime first
 * (-fsanitize=kernel-address), which puts just those bytes into a private page at that address. What
 * was not asked for is not there: no attribute, builtin or vector type reads a byte without a record.
 *
 *     load    announce: record, wait, bytes into the page;  then the load itself
 *     store   announce: a page to store to;                 then the store itself; at the next call
 *             of the runtime, which the closed window forces before the next record, its bytes
 *             become a record
 *
 * Without data (ShareLaunch.hidden 0) arbitrary bytes are mapped where GM is. */
#ifndef TWIN_CORE_MEMORY_H
#define TWIN_CORE_MEMORY_H

/* The compiler calls for every load and store of the kernel, most of them on its own stack: what
 * decides that comes first and needs no room of its own. */
static inline int is_watched(uint64_t address)
{
    return __builtin_expect(address - SHARE_GM_BASE < SHARE_GM_SPAN, 0) &&
           address - tiling_at >= tiling_bytes;
}

/* What the library's functions would do, on memory that is the core's own. */
static void copy_up(uint8_t *to, const uint8_t *from, size_t n)
{
    for (; n >= 16; n -= 16, to += 16, from += 16)
        __builtin_memcpy(to, from, 16);
    while (n--)
        *to++ = *from++;
}

static void copy_down(uint8_t *to, const uint8_t *from, size_t n)
{
    while (n--)
        to[n] = from[n];
}

static uint64_t record_address(uint64_t address) { return rec_address(NPU_GM, address); }

static const ShareMap *map_of(uint64_t address, uint32_t bytes)
{
    const ShareMap *maps = launch_at(launch->maps_at);
    for (uint32_t i = 0; i < launch->map_count; i++)
        if (address >= maps[i].address && address + bytes <= maps[i].address + maps[i].bytes)
            return &maps[i];
    return NULL;
}

static Record *next_record(void)
{
    if (acraft_core.cursor == acraft_core.limit)
        ring_full();
    return acraft_core.cursor++;
}

/* --- elements -------------------------------------------------------------------------------- */

static void wait_for_answer(void)
{
    settle_store();
    wait_for_all();
}

/* The last answer: the element asked for, of a long run over an input also what follows it, which no
 * core will change. */
static ACRAFT_KEPT struct {
    uint64_t address, bytes;
    uint64_t value[REC_ANSWER_BYTES / 8];
} got;

/* What the newest record reads; zeros where the simulator refused it. */
static const void *element_at(uint64_t address, uint32_t bytes)
{
    static const uint64_t nothing[2];
    uint64_t inside = address - got.address;
    if (got.bytes > 16 && inside < got.bytes && bytes <= got.bytes - inside)
        return (const uint8_t *)got.value + inside;
    wait_for_answer();
    const RecordView *view = acraft_core.view;
    got.bytes = 0;
    if (view->answer_at != address || view->answer_bytes < bytes)
        return nothing;
    got.address = address;
    got.bytes = view->answer_bytes;
    copy_up((uint8_t *)got.value, view->answer, got.bytes);
    return got.value;
}

const void *acraft_ring_read(uint64_t address, uint32_t bytes)
{
    uint32_t space = rec_space(address);
    if (space != NPU_GM) {
        acraft_ring_flush();
        return acraft_core.memory[space] + rec_byte(address);
    }
    ring->reads++;
    if (launch->hidden)
        return element_at(address, bytes);
    if (!launch->time_only)
        wait_for_answer();
    return (const void *)(uintptr_t)rec_byte(address);
}

/* --- pages for plain pointers ---------------------------------------------------------------- */

enum { PAGE = 4096, PAGES = 256 };
static ACRAFT_KEPT uint64_t pages[PAGES]; /* addresses; 0: none */

static void open_page(uint64_t address)
{
    uint64_t page = address / PAGE * PAGE, *slot = &pages[page / PAGE % PAGES];
    void *want = (void *)(uintptr_t)page;
    if (*slot == page)
        return;
    if (*slot)
        munmap((void *)(uintptr_t)*slot, PAGE);
    *slot = 0;
    if (mmap(want, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) !=
        want)
        _exit(97); /* BOX_STATUS_MEMORY */
    *slot = page;
}

/* The scalar unit moves at most 8 bytes at a time; no piece crosses a page. */
enum { SCALAR_BYTES = 8 };

static uint32_t piece_of(uint64_t address, uint64_t bytes)
{
    uint64_t most = PAGE - address % PAGE;
    most = most < SCALAR_BYTES ? most : SCALAR_BYTES;
    return (uint32_t)(bytes < most ? bytes : most);
}

__attribute__((noinline)) static void announce_load(uint64_t address, uint64_t bytes)
{
    for (uint32_t part; ring && bytes; address += part, bytes -= part) {
        part = piece_of(address, bytes);
        *next_record() = (Record){.op = NPU_RAW_LOAD,
                                  .pipe = NPU_PIPE_S,
                                  .operand[1].address = record_address(address),
                                  .n[0] = part};
        ring->reads++;
        if (launch->hidden) {
            const void *value = element_at(record_address(address), part);
            open_page(address);
            copy_up((uint8_t *)(uintptr_t)address, value, part);
        } else if (!launch->time_only) {
            wait_for_answer();
        }
    }
}

/* --- stores ---------------------------------------------------------------------------------- */

enum { STORE_MOST = 4096 };

/* The store that has been announced and not yet become a record. */
static ACRAFT_KEPT struct {
    uint64_t address, bytes; /* bytes 0: none is pending */
    const ShareMap *map;     /* not hidden: what was there before */
} pending;

static void put_store(uint64_t address, const uint8_t *value, uint64_t bytes)
{
    for (uint32_t part; bytes; address += part, value += part, bytes -= part) {
        part = piece_of(address, bytes);
        Record record = {.op = NPU_RAW_STORE,
                         .pipe = NPU_PIPE_S,
                         .operand[0].address = record_address(address),
                         .n[0] = part};
        copy_up((uint8_t *)record.mask, value, part);
        *next_record() = record;
    }
}

/* Without data: a private copy of the pages, or the shared ones again. */
static void remap(uint64_t address, uint64_t bytes, int protection, int kind)
{
    uint64_t page = address / PAGE * PAGE, inside = page - pending.map->address;
    uint64_t all = (address + bytes - 1) / PAGE * PAGE + PAGE - page;
    void *at = (void *)(uintptr_t)page;
    off_t offset = (off_t)(pending.map->at +
                           (pending.map->repeat ? inside % pending.map->repeat : inside));
    if (mmap(at, all, protection, kind | MAP_FIXED, pending.map->fd, offset) != at)
        _exit(97); /* BOX_STATUS_MEMORY */
}

static void settle_store(void)
{
    uint64_t address = pending.address, bytes = pending.bytes;
    if (!bytes)
        return;
    uint8_t value[STORE_MOST];
    pending.bytes = 0;
    copy_up(value, (const uint8_t *)(uintptr_t)address, bytes);
    if (!launch->hidden)
        remap(address, bytes, PROT_READ, MAP_SHARED);
    make_room(); /* nothing but this store is to be published: the window was closed for it */
    put_store(address, value, bytes);
}

__attribute__((noinline)) static void announce_store(uint64_t address, uint64_t bytes)
{
    if (!ring)
        return;
    settle_store();
    if (bytes > STORE_MOST)
        return; /* a struct of that size: the store itself will end the core */
    if (launch->hidden) {
        open_page(address);
        open_page(address + bytes - 1); /* at most two pages */
    } else {
        pending.map = map_of(address, (uint32_t)bytes);
        if (!pending.map)
            return; /* as above */
        remap(address, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE);
    }
    pending.address = address;
    pending.bytes = bytes;
    publish();
    window = acraft_core.limit = acraft_core.cursor;
}

/* --- what the compiler calls ----------------------------------------------------------------- */

static inline void load(uint64_t address, uint64_t bytes)
{
    if (is_watched(address))
        announce_load(address, bytes);
}

static inline void store(uint64_t address, uint64_t bytes)
{
    if (is_watched(address))
        announce_store(address, bytes);
}

#define WATCH(bytes)                                                                              \
    void __asan_load##bytes##_noabort(uintptr_t at) { load(at, bytes); }                          \
    void __asan_store##bytes##_noabort(uintptr_t at) { store(at, bytes); }
WATCH(1)
WATCH(2)
WATCH(4)
WATCH(8)
WATCH(16)
#undef WATCH
void __asan_loadN_noabort(uintptr_t at, size_t bytes) { load(at, bytes); }
void __asan_storeN_noabort(uintptr_t at, size_t bytes) { store(at, bytes); }
void __asan_handle_no_return(void) {}

/* The callbacks of g++ (-fsanitize=thread). */
#define WATCH(bytes)                                                                              \
    void __tsan_read##bytes(void *at) { load((uintptr_t)at, bytes); }                             \
    void __tsan_write##bytes(void *at) { store((uintptr_t)at, bytes); }                           \
    void __tsan_unaligned_read##bytes(void *at) { load((uintptr_t)at, bytes); }                   \
    void __tsan_unaligned_write##bytes(void *at) { store((uintptr_t)at, bytes); }
WATCH(1)
WATCH(2)
WATCH(4)
WATCH(8)
WATCH(16)
#undef WATCH
void __tsan_read_range(void *at, size_t bytes) { load((uintptr_t)at, bytes); }
void __tsan_write_range(void *at, size_t bytes) { store((uintptr_t)at, bytes); }
void __tsan_vptr_update(void **at, void *value) { (void)value, store((uintptr_t)at, sizeof *at); }
void __tsan_vptr_read(void **at) { load((uintptr_t)at, sizeof *at); }
void __tsan_func_entry(void *caller) { (void)caller; }
void __tsan_func_exit(void) {}
void __tsan_init(void) {}

/* --- the library's functions on memory ------------------------------------------------------- */

static int is_plain(const void *at, size_t n)
{
    uint64_t first = (uintptr_t)at;
    return !n || !ring || !(is_watched(first) || is_watched(first + n - 1));
}

/* Through a record for each piece, in either direction. */
static void copy_watched(uint8_t *to, const uint8_t *from, size_t n)
{
    uint8_t piece[SCALAR_BYTES];
    for (uint32_t part; n; to += part, from += part, n -= part) {
        part = n < SCALAR_BYTES ? (uint32_t)n : SCALAR_BYTES;
        load((uintptr_t)from, part);
        copy_up(piece, from, part);
        if (is_watched((uintptr_t)to))
            put_store((uintptr_t)to, piece, part);
        else
            copy_up(to, piece, part);
    }
}

void *memcpy(void *to, const void *from, size_t n)
{
    if (is_plain(to, n) && is_plain(from, n))
        copy_up(to, from, n);
    else
        copy_watched(to, from, n);
    return to;
}

void *memmove(void *to, const void *from, size_t n)
{
    if (!is_plain(to, n) || !is_plain(from, n))
        copy_watched(to, from, n);
    else if ((uintptr_t)to - (uintptr_t)from < n)
        copy_down(to, from, n);
    else
        copy_up(to, from, n);
    return to;
}

void *memset(void *to, int value, size_t n)
{
    uint8_t piece[SCALAR_BYTES], *at = to;
    for (size_t i = 0; i < sizeof piece; i++)
        piece[i] = (uint8_t)value;
    if (is_plain(to, n))
        for (; n >= sizeof piece; n -= sizeof piece, at += sizeof piece)
            __builtin_memcpy(at, piece, sizeof piece);
    if (is_plain(to, n) && n)
        copy_up(at, piece, n);
    else
        for (size_t part; n; n -= part, at += part) {
            part = n < sizeof piece ? n : sizeof piece;
            put_store((uintptr_t)at, piece, part);
        }
    return to;
}

int memcmp(const void *a, const void *b, size_t n)
{
    const uint8_t *x = a, *y = b;
    for (size_t i = 0; i < n; i++) {
        load((uintptr_t)(x + i), 1);
        load((uintptr_t)(y + i), 1);
        if (x[i] != y[i])
            return x[i] < y[i] ? -1 : 1;
    }
    return 0;
}

int bcmp(const void *a, const void *b, size_t n) { return memcmp(a, b, n); }

#endif
