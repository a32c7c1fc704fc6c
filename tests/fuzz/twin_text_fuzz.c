/* Fuzzes what reads foreign text in the twin: the scanner for entries and launches, the reader of
 * compiler messages, the reader of object files. The first byte picks which; all must end, and a
 * rewritten text keeps its lines. */
#include "twin/twin_int.h"

#include <stdio.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static size_t lines(Str text)
{
    size_t count = 0;
    for (size_t i = 0; i < text.len; i++)
        count += text.at[i] == '\n';
    return count;
}

static void scan(Arena *arena, Str text)
{
    TwinEntries entries = {0};
    uint32_t launches;
    twin_entry_scan(arena, text, &entries);
    Str out = twin_entry_rewrite_launches(arena, text, &launches);
    if (lines(out) != lines(text)) {
        fprintf(stderr, "a rewritten text lost lines\n");
        abort();
    }
}

static void read_messages(Arena *arena, Str text)
{
    Verdict verdict = verdict_make();
    Diag diag = diag_make(arena, "k.cpp", text);
    Buf out = {0};
    twin_messages_read(arena, text, "k.cpp", &verdict, &diag);
    verdict_to_json(&verdict, &out);
    diag_print(&diag, &out);
    buf_free(&out);
}

static void read_object(Arena *arena, Str bytes)
{
    TwinObject object;
    if (twin_object_read(arena, bytes, &object))
        twin_object_foreign_import(arena, &object);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (!size)
        return 0;
    Arena arena = {0};
    Str rest = {(const char *)data + 1, size - 1};
    switch (data[0] % 3) {
    case 0: scan(&arena, rest); break;
    case 1: read_messages(&arena, rest); break;
    default: read_object(&arena, rest); break;
    }
    arena_drop(&arena);
    return 0;
}
