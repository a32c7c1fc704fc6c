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

static void add_bits(CoverPage *page, uint32_t from, uint32_t to)
{
    for (uint32_t word = from / 64; word <= (to - 1) / 64; word++) {
        uint32_t low = word * 64 < from ? from - word * 64 : 0;
        uint32_t high = to - word * 64 < 64 ? to - word * 64 : 64;
        uint64_t mask = (high == 64 ? ~UINT64_C(0) : (UINT64_C(1) << high) - 1) &
                        ~((UINT64_C(1) << low) - 1);
        page->count += (uint32_t)__builtin_popcountll(mask & ~page->bits[word]);
        page->bits[word] |= mask;
    }
}

static void add_to_page(Cover *c, uint64_t number, uint32_t from, uint32_t to)
{
    CoverPage *page = &c->pages[number];
    uint32_t bytes = (uint32_t)page_bytes(c, number);
    if (page->count == bytes)
        return;
    if (to - from == bytes) {
        page->count = bytes;
    } else {
        if (!page->bits)
            page->bits = heap_alloc(WORDS * sizeof *page->bits);
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
    return page->bits ? word * 64 + (uint64_t)__builtin_ctzll(~page->bits[word]) : 0;
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
