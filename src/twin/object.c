/* Reads an ELF relocatable file made from foreign text. In: its bytes, of which nothing is
 * believed. Out: the symbols it wants from outside, the task types it declares, and whether it
 * holds something that would run before our runtime (an ifunc, a preinit section) or change how
 * the program is loaded (an interpreter). */
#include "twin/twin_int.h"

#include "twin/include/acraft/core.h"
#include <elf.h>
#include <string.h>

enum { MOST_SYMBOLS = 1 << 20 };

typedef struct Image {
    Str bytes;
    Elf64_Ehdr head;
} Image;

static bool range_ok(Str bytes, uint64_t at, uint64_t size)
{
    return at <= bytes.len && size <= bytes.len - at;
}

static bool load(Str bytes, uint64_t at, void *into, size_t size)
{
    if (!range_ok(bytes, at, size))
        return false;
    memcpy(into, bytes.at + at, size);
    return true;
}

static bool load_section(const Image *image, uint32_t index, Elf64_Shdr *section)
{
    return index < image->head.e_shnum &&
           load(image->bytes, image->head.e_shoff + (uint64_t)index * sizeof *section, section,
                sizeof *section);
}

/* A zero-terminated name inside a string section; empty when it does not lie there. */
static Str name_at(const Image *image, const Elf64_Shdr *strings, uint64_t at)
{
    if (!range_ok(image->bytes, strings->sh_offset, strings->sh_size) || at >= strings->sh_size)
        return (Str){0};
    const char *start = image->bytes.at + strings->sh_offset + at;
    return (Str){start, strnlen(start, strings->sh_size - at)};
}

static bool read_head(Image *image)
{
    return load(image->bytes, 0, &image->head, sizeof image->head) &&
           memcmp(image->head.e_ident, ELFMAG, SELFMAG) == 0 &&
           image->head.e_ident[EI_CLASS] == ELFCLASS64 && image->head.e_type == ET_REL &&
           image->head.e_shentsize == sizeof(Elf64_Shdr) && image->head.e_shnum > 0;
}

/* Variables of the headers have our name in theirs, tables of the compiler's watching its own; no text may have
 * either (names.c). */
static bool is_ours(Str name)
{
    return str_find(name, STR("acraft")) >= 0 || str_starts(name, "__sancov");
}

/* The last name inside a mangled one: `calls` of _ZZN1K7ProcessEvE5calls. */
static const char *plain_name(Arena *arena, Str name)
{
    Str last = name;
    for (size_t i = 0; str_starts(name, "_Z") && i < name.len; i++) {
        size_t n = 0, at = i;
        while (at < name.len && name.at[at] >= '0' && name.at[at] <= '9' && n < name.len)
            n = 10 * n + (size_t)(name.at[at++] - '0');
        if (n == 0 || n > name.len - at)
            continue;
        last = str_slice(name, at, at + n);
        i = at + n - 1;
    }
    return str_dup(arena, last);
}

static void note_variable(Arena *arena, const Image *image, const Elf64_Sym *symbol, Str name,
                          TwinObject *object)
{
    Elf64_Shdr section;
    int type = ELF64_ST_TYPE(symbol->st_info);
    if (!name.len || is_ours(name))
        return;
    if (type == STT_TLS)
        object->threads = plain_name(arena, name);
    if (type == STT_OBJECT && load_section(image, symbol->st_shndx, &section) &&
        (section.sh_flags & SHF_WRITE))
        vec_push(arena, &object->variables, plain_name(arena, name));
}

/* Functions of such names are the compiler's own: it does not watch them (build.c, code_watch). */
static bool is_unwatched(Str name)
{
    return str_starts(name, "__sanitizer_") ||
           (str_find(name, STR(".module_ctor")) >= 0 && !str_is(name, "asan.module_ctor"));
}

static bool read_symbols(Arena *arena, const Image *image, const Elf64_Shdr *table,
                         TwinObject *object)
{
    Elf64_Shdr strings;
    uint64_t count = table->sh_size / sizeof(Elf64_Sym);
    if (!load_section(image, table->sh_link, &strings) || count > MOST_SYMBOLS)
        return false;
    for (uint64_t i = 1; i < count; i++) {
        Elf64_Sym symbol;
        if (!load(image->bytes, table->sh_offset + i * sizeof symbol, &symbol, sizeof symbol))
            return false;
        Str name = name_at(image, &strings, symbol.st_name);
        if (ELF64_ST_TYPE(symbol.st_info) == STT_GNU_IFUNC)
            object->odd = "an ifunc";
        if (symbol.st_shndx != SHN_UNDEF && is_unwatched(name))
            object->odd = str_format(arena, "'%.*s'", STR_ARG(name));
        note_variable(arena, image, &symbol, name, object);
        if (symbol.st_shndx == SHN_UNDEF && name.len)
            vec_push(arena, &object->imports, str_dup(arena, name));
    }
    return true;
}

static bool read_tasks(Arena *arena, const Image *image, const Elf64_Shdr *section,
                       TwinObject *object)
{
    for (uint64_t at = 0; at + sizeof(AcraftTaskType) <= section->sh_size;
         at += sizeof(AcraftTaskType)) {
        AcraftTaskType task;
        if (!load(image->bytes, section->sh_offset + at, &task, sizeof task))
            return false;
        TwinTask row = {.key = task.key, .type = task.type};
        vec_push(arena, &object->tasks, row);
    }
    return true;
}

/* Sections that compilers make of C++ themselves. What is not loaded does not matter. */
static bool is_usual(const Elf64_Shdr *section, Str name)
{
    static const char *const heads[] = {
        ".text",       ".rodata",           ".data",       ".bss",   ".tdata",
        ".tbss",       ".init_array",       ".fini_array", ".ctors", ".dtors",
        ".eh_frame",   ".gcc_except_table", ".lrodata",    ".ldata", ".lbss",
        "acraft_task", ".note.gnu.property"};
    if (!(section->sh_flags & SHF_ALLOC))
        return true;
    for (size_t i = 0; i < sizeof heads / sizeof *heads; i++) {
        size_t n = strlen(heads[i]);
        if (str_starts(name, heads[i]) && (name.len == n || name.at[n] == '.'))
            return true;
    }
    return false;
}

static bool read_section(Arena *arena, const Image *image, const Elf64_Shdr *section, Str name,
                         TwinObject *object)
{
    if (!is_usual(section, name))
        object->odd = str_format(arena, "a section '%.*s'", STR_ARG(name));
    if (str_is(name, "acraft_task") && section->sh_type == SHT_PROGBITS)
        return read_tasks(arena, image, section, object);
    return section->sh_type != SHT_SYMTAB || read_symbols(arena, image, section, object);
}

bool twin_object_read(Arena *arena, Str bytes, TwinObject *object)
{
    *object = (TwinObject){0};
    Image image = {.bytes = bytes};
    Elf64_Shdr names, section;
    if (!read_head(&image) || !load_section(&image, image.head.e_shstrndx, &names))
        return false;
    for (uint32_t i = 1; i < image.head.e_shnum; i++)
        if (!load_section(&image, i, &section) ||
            !read_section(arena, &image, &section, name_at(&image, &names, section.sh_name),
                          object))
            return false;
    return true;
}

static const char *const allowed[] = {
#define IMPORT(name) #name,
#include "twin/imports.def"
#undef IMPORT
};

static bool is_allowed(Str name)
{
    for (size_t i = 0; i < sizeof allowed / sizeof *allowed; i++) {
        if (str_is(name, allowed[i]))
            return true;
    }
    return str_starts(name, "acraft_") || str_starts(name, "__start_acraft_") ||
           str_starts(name, "__stop_acraft_");
}

const char *twin_object_foreign_import(Arena *arena, const TwinObject *object)
{
    for (uint32_t i = 0; i < object->imports.len; i++)
        if (!is_allowed(str_from(object->imports.at[i])))
            return str_dup(arena, str_from(object->imports.at[i]));
    return NULL;
}
