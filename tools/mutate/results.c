/* What became of each mutant, one line of a file: key, kind, class and values by default and strict,
 * then for the reader why, and which mutant it was. In: a file of an earlier run, or none. Out: what
 * it says; lines added as mutants are run. A line that does not read is passed over, so a run that
 * was broken off loses at most its last mutant. */
#include "tools/mutate/mutate.h"

#include "base/file.h"
#include <stdio.h>

static bool read_line(Arena *arena, Str line, Result *r)
{
    unsigned long long key;
    unsigned kind, class[2], right[2];
    Str figures, why[2];
    if (!str_next(&line, '\t', &figures) || !str_next(&line, '\t', &why[0]) ||
        !str_next(&line, '\t', &why[1]) ||
        sscanf(str_dup(arena, figures), "%llx %u %u %u %u %u", &key, &kind, &class[0], &right[0],
               &class[1], &right[1]) != 6)
        return false;
    *r = (Result){.key = key, .kind = kind};
    for (int mode = 0; mode < 2; mode++) {
        r->class[mode] = class[mode];
        r->right[mode] = right[mode];
        r->why[mode] = str_dup(arena, why[mode]);
    }
    return true;
}

bool results_open(Results *results, const char *path, Diag *diag)
{
    *results = (Results){.path = path};
    if (!path || !file_exists(path))
        return true;
    Str text, line;
    Result r;
    if (!file_read(&results->arena, path, 64 << 20, &text, diag))
        return false;
    while (text.len && str_next(&text, '\n', &line))
        if (read_line(&results->arena, line, &r))
            vec_push(&results->arena, &results->known, r);
    return true;
}

void results_close(Results *results) { arena_drop(&results->arena); }

const Result *results_find(const Results *results, uint64_t key)
{
    for (uint32_t i = 0; i < results->known.len; i++)
        if (results->known.at[i].key == key)
            return &results->known.at[i];
    return NULL;
}

/* Line breaks and tabs would end a field. */
static const char *one_field(Arena *arena, const char *text)
{
    char *copy = str_dup(arena, str_from(text ? text : ""));
    for (char *c = copy; *c; c++)
        if (*c == '\n' || *c == '\t')
            *c = ' ';
    return copy;
}

bool results_add(Results *results, Result r, const char *label)
{
    for (int mode = 0; mode < 2; mode++)
        r.why[mode] = one_field(&results->arena, r.why[mode]);
    vec_push(&results->arena, &results->known, r);
    if (!results->path)
        return true;
    FILE *file = fopen(results->path, "a");
    if (!file)
        return false;
    fprintf(file, "%016llx %u %u %u %u %u\t%s\t%s\t%s\n", (unsigned long long)r.key, r.kind,
            r.class[0], r.right[0], r.class[1], r.right[1], r.why[0], r.why[1],
            one_field(&results->arena, label));
    return fclose(file) == 0;
}
