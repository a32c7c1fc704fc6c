/* What of an object file the kernel can reach. Host code that stands in the same text is compiled
 * along and dropped by the linker; what only it wants from outside is no business of the kernel's.
 * So with the constructors of global objects: a device runs none, they are the host's, and the linker
 * is told to leave them out unless the kernel uses a variable that one of them can set.
 * In: an ELF relocatable file, one section per function and variable. Out: the imports reached from
 * the entry and from what runs before it; the file without the host's constructors. */
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

static Str section_name(const Reach *r, uint32_t section)
{
    return name_in(r, r->head.e_shstrndx, r->sections[section].sh_name);
}

/* Lists of constructors and destructors; those with a priority are the compiler's own. */
static bool runs_at_start(const Reach *r, uint32_t section)
{
    Str name = section_name(r, section);
    return str_is(name, ".init_array") || str_is(name, ".ctors") || str_is(name, ".fini_array");
}

/* The entry, what the compiler runs before it, and what the runtime finds by section. */
static void mark_entry(Reach *r)
{
    Elf64_Sym symbol;
    for (uint64_t i = 1; symbol_at(r, i, &symbol); i++)
        if (str_is(name_in(r, r->sections[r->symbols].sh_link, symbol.st_name), "acraft_entry") &&
            symbol.st_shndx < r->count)
            r->section_in[symbol.st_shndx] = true;
    static const char *const kept[] = {".init_array.", ".ctors.", ".fini_array.", "acraft_"};
    for (uint32_t i = 1; i < r->count; i++)
        for (size_t k = 0; k < sizeof kept / sizeof *kept; k++)
            if (str_starts(section_name(r, i), kept[k]))
                r->section_in[i] = true;
}

static void mark_start(Reach *r)
{
    for (uint32_t i = 1; i < r->count; i++)
        if (runs_at_start(r, i))
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

/* Whether kernel and constructors meet in a variable. */
static bool share_variable(const Reach *kernel, const Reach *start)
{
    for (uint32_t i = 1; i < kernel->count; i++)
        if (kernel->section_in[i] && start->section_in[i] &&
            kernel->sections[i].sh_flags & SHF_WRITE)
            return true;
    return false;
}

static void leave_out_start(const Reach *r, char *bytes)
{
    for (uint32_t i = 1; i < r->count; i++) {
        Elf64_Shdr section = r->sections[i];
        if (!runs_at_start(r, i))
            continue;
        section.sh_flags |= SHF_EXCLUDE;
        memcpy(bytes + r->head.e_shoff + (uint64_t)i * sizeof section, &section, sizeof section);
    }
}

bool twin_object_reach(Arena *arena, Str *bytes, TwinObject *object)
{
    Reach r, start;
    Elf64_Sym symbol;
    if (!open_file(arena, *bytes, &r) || !open_file(arena, *bytes, &start))
        return false;
    mark_entry(&r);
    spread(&r);
    mark_start(&start);
    spread(&start);
    if (share_variable(&r, &start)) {
        mark_start(&r);
        spread(&r);
    } else {
        char *without = str_dup(arena, *bytes);
        leave_out_start(&r, without);
        *bytes = (Str){without, bytes->len};
    }
    object->imports.len = 0;
    for (uint64_t i = 1; symbol_at(&r, i, &symbol); i++) {
        Str name = name_in(&r, r.sections[r.symbols].sh_link, symbol.st_name);
        if (r.symbol_in[i] && symbol.st_shndx == SHN_UNDEF && name.len)
            vec_push(arena, &object->imports, str_dup(arena, name));
    }
    return true;
}
