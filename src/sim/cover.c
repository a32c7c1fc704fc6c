/* Coverage of a range by pages; see cover.h. */
#include "sim/cover.h"

#include "base/arena.h"

enum { PAGE = 1 << 16, WORDS = PAGE / 64 };

static uint64_t page_bytes(const Cover *c, uint64_t page)
{
    uint64_t left = c->bytes - page * PAGE;
    return left < PAGE ? left : PAGE;
}

static uint64_t page_count(const Cover *c) { return (c->bytes + PAGE - 1) / PAGE; }

void cover_open(Cover *cover, uint64_t bytes)
{
    *cover = (Cover){.bytes = bytes};
    cover->pages = heap_alloc(page_count(cover) * sizeof *cover->pages);
}

void cover_close(Cover *cover)
{
    for (uint64_t i = 0; cover->pages && i < page_count(cover); i++)
        heap_free(cover->pages[i].bits);
    heap_free(cover->pages);
    *cover = (Cover){0};
}

static uint32_t count_new(uint64_t mask, uint64_t bits)
{
    return bits == 0 && mask == ~UINT64_C(0) ? 64 : (uint32_t)__builtin_popcountll(mask & ~bits);
}

static void add_bits(CoverPage *page, uint32_t from, uint32_t to)
{
    for (uint32_t word = from / 64; from < to && word <= (to - 1) / 64; word++) {
        uint32_t low = word * 64 < from ? from - word * 64 : 0;
        uint32_t high = to - word * 64 < 64 ? to - word * 64 : 64;
        uint64_t mask = (high == 64 ? ~UINT64_C(0) : (UINT64_C(1) << high) - 1) &
                        ~((UINT64_C(1) << low) - 1);
        page->count += count_new(mask, page->bits[word]);
        page->bits[word] |= mask;
    }
}

/* Bytes that follow on what is there keep the page a single run. */
static bool extend(CoverPage *page, uint32_t from, uint32_t to)
{
    uint32_t first = page->from, end = page->from + page->count;
    if (page->bits || (page->count && (from > end || to < first)))
        return false;
    page->from = page->count && first < from ? first : from;
    page->count = (page->count && end > to ? end : to) - page->from;
    return true;
}

static void add_to_page(Cover *c, uint64_t number, uint32_t from, uint32_t to)
{
    CoverPage *page = &c->pages[number];
    uint32_t bytes = (uint32_t)page_bytes(c, number);
    if (page->count == bytes)
        return;
    if (!extend(page, from, to)) {
        if (!page->bits) {
            uint32_t first = page->from, end = first + page->count;
            page->bits = heap_alloc(WORDS * sizeof *page->bits);
            page->count = 0;
            add_bits(page, first, end);
        }
        add_bits(page, from, to);
    }
    if (page->count == bytes) {
        heap_free(page->bits);
        page->bits = NULL;
    }
}

void cover_add(Cover *cover, uint64_t from, uint64_t to)
{
    to = to < cover->bytes ? to : cover->bytes;
    while (from < to) {
        uint64_t page = from / PAGE, end = (page + 1) * PAGE < to ? (page + 1) * PAGE : to;
        add_to_page(cover, page, (uint32_t)(from % PAGE), (uint32_t)(end - page * PAGE));
        from = end;
    }
}

static uint64_t first_gap(const CoverPage *page)
{
    uint64_t word = 0;
    while (page->bits && page->bits[word] == ~UINT64_C(0))
        word++;
    if (!page->bits)
        return page->count && page->from == 0 ? page->count : 0;
    return word * 64 + (uint64_t)__builtin_ctzll(~page->bits[word]);
}

uint64_t cover_missing(const Cover *cover, uint64_t *first)
{
    uint64_t missing = 0;
    *first = 0;
    for (uint64_t i = 0; cover->pages && i < page_count(cover); i++) {
        uint64_t gap = page_bytes(cover, i) - cover->pages[i].count;
        if (gap && !missing)
            *first = i * PAGE + first_gap(&cover->pages[i]);
        missing += gap;
    }
    return missing;
}
