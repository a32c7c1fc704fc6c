/* What of an object file the kernel can reach. Host code that stands in the same text is compiled
 * along and dropped by the linker; what only it wants from outside is no business of the kernel's.
 * In: an ELF relocatable file, one section per function. Out: the imports reached from the entry and
 * from what runs before it. */
#include "twin/twin_int.h"

#include <elf.h>
#include <string.h>

enum { MOST_SECTIONS = 1 << 16, MOST_SYMBOLS = 1 << 20 };

typedef struct Reach {
    Str bytes;
    Elf64_Ehdr head;
    Elf64_Shdr *sections;
    uint32_t count;
    uint32_t symbols; /* section of the symbol table */
    bool *section_in, *symbol_in, *done;
} Reach;

static bool load(const Reach *r, uint64_t at, void *into, size_t size)
{
    if (at > r->bytes.len || size > r->bytes.len - at)
        return false;
    memcpy(into, r->bytes.at + at, size);
    return true;
}

static Str name_in(const Reach *r, uint32_t strings, uint64_t at)
{
    if (strings >= r->count)
        return (Str){0};
    const Elf64_Shdr *s = &r->sections[strings];
    if (at >= s->sh_size || s->sh_offset > r->bytes.len || s->sh_size > r->bytes.len - s->sh_offset)
        return (Str){0};
    const char *start = r->bytes.at + s->sh_offset + at;
    return (Str){start, strnlen(start, s->sh_size - at)};
}

static bool symbol_at(const Reach *r, uint64_t index, Elf64_Sym *symbol)
{
    const Elf64_Shdr *table = &r->sections[r->symbols];
    return index < table->sh_size / sizeof *symbol &&
           load(r, table->sh_offset + index * sizeof *symbol, symbol, sizeof *symbol);
}

static bool open_file(Arena *arena, Str bytes, Reach *r)
{
    *r = (Reach){.bytes = bytes};
    if (!load(r, 0, &r->head, sizeof r->head) || r->head.e_shnum == 0)
        return false;
    r->count = r->head.e_shnum;
    r->sections = arena_array(arena, Elf64_Shdr, r->count);
    for (uint32_t i = 0; i < r->count; i++) {
        if (!load(r, r->head.e_shoff + (uint64_t)i * sizeof *r->sections, &r->sections[i],
                  sizeof *r->sections))
            return false;
        if (r->sections[i].sh_type == SHT_SYMTAB)
            r->symbols = i;
    }
    uint64_t symbols = r->sections[r->symbols].sh_size / sizeof(Elf64_Sym);
    if (!r->symbols || symbols > MOST_SYMBOLS)
        return false;
    r->section_in = arena_array(arena, bool, r->count);
    r->done = arena_array(arena, bool, r->count);
    r->symbol_in = arena_array(arena, bool, symbols + 1);
    return true;
}

/* The entry, what runs before it, and what the runtime finds by section. */
static void mark_roots(Reach *r)
{
    Elf64_Sym symbol;
    for (uint64_t i = 1; symbol_at(r, i, &symbol); i++)
        if (str_is(name_in(r, r->sections[r->symbols].sh_link, symbol.st_name), "acraft_entry") &&
            symbol.st_shndx < r->count)
            r->section_in[symbol.st_shndx] = true;
    static const char *const kept[] = {".init_array", ".ctors", ".fini_array", "acraft_"};
    for (uint32_t i = 1; i < r->count; i++)
        for (size_t k = 0; k < sizeof kept / sizeof *kept; k++)
            if (str_starts(name_in(r, r->head.e_shstrndx, r->sections[i].sh_name), kept[k]))
                r->section_in[i] = true;
}

static void follow(Reach *r, const Elf64_Shdr *relocations)
{
    for (uint64_t i = 0; i < relocations->sh_size / sizeof(Elf64_Rela); i++) {
        Elf64_Rela rela;
        Elf64_Sym symbol;
        if (!load(r, relocations->sh_offset + i * sizeof rela, &rela, sizeof rela) ||
            !symbol_at(r, ELF64_R_SYM(rela.r_info), &symbol))
            return;
        r->symbol_in[ELF64_R_SYM(rela.r_info)] = true;
        if (symbol.st_shndx != SHN_UNDEF && symbol.st_shndx < r->count)
            r->section_in[symbol.st_shndx] = true;
    }
}

static void spread(Reach *r)
{
    for (bool changed = true; changed;) {
        changed = false;
        for (uint32_t i = 1; i < r->count; i++) {
            const Elf64_Shdr *s = &r->sections[i];
            if (s->sh_type != SHT_RELA || r->done[i] || s->sh_info >= r->count ||
                !r->section_in[s->sh_info])
                continue;
            r->done[i] = changed = true;
            follow(r, s);
        }
    }
}

bool twin_object_reach(Arena *arena, Str bytes, TwinObject *object)
{
    Reach r;
    Elf64_Sym symbol;
    if (!open_file(arena, bytes, &r))
        return false;
    mark_roots(&r);
    spread(&r);
    object->imports.len = 0;
    for (uint64_t i = 1; symbol_at(&r, i, &symbol); i++) {
        Str name = name_in(&r, r.sections[r.symbols].sh_link, symbol.st_name);
        if (r.symbol_in[i] && symbol.st_shndx == SHN_UNDEF && name.len)
            vec_push(arena, &object->imports, str_dup(arena, name));
    }
    return true;
}
