/* Writing safetensors, and sets of shards with their index, in and out. */
#include "nn/safetensors.h"

#include "base/file.h"
#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <string.h>

static void print_row(Buf *out, const StTensor *t, uint64_t at)
{
    buf_json_str(out, t->name);
    buf_printf(out, ":{\"dtype\":\"%s\",\"shape\":[", st_dtype_name(t->dtype));
    for (uint32_t i = 0; i < t->rank; i++)
        buf_printf(out, "%s%llu", i ? "," : "", (unsigned long long)t->shape[i]);
    buf_printf(out, "],\"data_offsets\":[%llu,%llu]}", (unsigned long long)at,
               (unsigned long long)(at + t->bytes));
}

/* The header with its length in front, filled up with spaces to a multiple of 8. */
static void print_header(Buf *out, const StTensor *tensors, uint32_t count, const StPair *metadata,
                         uint32_t metadata_count)
{
    uint64_t at = 0;
    buf_fill(out, 0, 8);
    buf_char(out, '{');
    if (metadata_count)
        buf_puts(out, "\"__metadata__\":{");
    for (uint32_t i = 0; i < metadata_count; i++) {
        buf_puts(out, i ? "," : "");
        buf_json_str(out, metadata[i].key);
        buf_char(out, ':');
        buf_json_str(out, metadata[i].value);
    }
    buf_puts(out, metadata_count ? count ? "}," : "}" : "");
    for (uint32_t i = 0; i < count; at += tensors[i++].bytes) {
        buf_puts(out, i ? "," : "");
        print_row(out, &tensors[i], at);
    }
    buf_char(out, '}');
    buf_fill(out, ' ', (8 - out->len % 8) % 8);
    uint64_t len = out->len - 8;
    for (int i = 0; i < 8; i++)
        out->at[i] = (char)(len >> 8 * i & 0xff);
}

static bool write_parts(FILE *file, const Buf *header, const StTensor *tensors, uint32_t count)
{
    bool ok = fwrite(header->at, 1, header->len, file) == header->len;
    for (uint32_t i = 0; ok && i < count; i++)
        ok = fwrite(tensors[i].data, 1, tensors[i].bytes, file) == tensors[i].bytes;
    return fflush(file) == 0 && ok;
}

bool st_write(const char *path, const StTensor *tensors, uint32_t count, const StPair *metadata,
              uint32_t metadata_count, Diag *diag)
{
    Buf header = {0};
    print_header(&header, tensors, count, metadata, metadata_count);
    const char *temporary = str_format(diag->arena, "%s.part", path);
    FILE *file = fopen(temporary, "wb");
    bool ok = file && write_parts(file, &header, tensors, count);
    ok = (!file || fclose(file) == 0) && ok;
    buf_free(&header);
    if (ok && rename(temporary, path) == 0)
        return true;
    diag_error(diag, "F002", (Span){0}, "cannot write '%s': %s", path, strerror(errno));
    (void)remove(temporary);
    return false;
}

/* How many tensors from `first` on fit into a shard; at least one. */
static uint32_t shard_length(const StTensor *tensors, uint32_t first, uint32_t count, uint64_t most)
{
    uint64_t bytes = tensors[first].bytes;
    uint32_t end = first + 1;
    while (end < count && bytes + tensors[end].bytes <= most)
        bytes += tensors[end++].bytes;
    return end - first;
}

static const char *shard_name(Arena *arena, uint32_t shard, uint32_t shards)
{
    return str_format(arena, "model-%05u-of-%05u.safetensors", shard + 1, shards);
}

static bool write_shards(Arena *arena, const char *dir, const StTensor *tensors, uint32_t count,
                         uint64_t most, uint32_t shards, Diag *diag)
{
    Buf index = {0};
    uint64_t total = 0;
    bool ok = true;
    for (uint32_t i = 0; i < count; i++)
        total += tensors[i].bytes;
    buf_printf(&index, "{\n  \"metadata\": {\"total_size\": %llu},\n  \"weight_map\": {",
               (unsigned long long)total);
    for (uint32_t first = 0, shard = 0, len; ok && first < count; first += len, shard++) {
        const char *name = shard_name(arena, shard, shards);
        len = shard_length(tensors, first, count, most);
        ok = st_write(path_join(arena, dir, name), tensors + first, len, NULL, 0, diag);
        for (uint32_t i = first; i < first + len; i++) {
            buf_puts(&index, i ? ",\n    " : "\n    ");
            buf_json_str(&index, tensors[i].name);
            buf_printf(&index, ": \"%s\"", name);
        }
    }
    buf_puts(&index, "\n  }\n}\n");
    ok = ok &&
         file_write(path_join(arena, dir, "model.safetensors.index.json"), buf_view(&index), diag);
    buf_free(&index);
    return ok;
}

bool st_write_set(Arena *arena, const char *dir, const StTensor *tensors, uint32_t count,
                  uint64_t most, Diag *diag)
{
    static const StPair format = {{"format", 6}, {"pt", 2}};
    uint32_t shards = 0;
    for (uint32_t first = 0; first < count && most; shards++)
        first += shard_length(tensors, first, count, most);
    if (shards > 1)
        return write_shards(arena, dir, tensors, count, most, shards, diag);
    return st_write(path_join(arena, dir, "model.safetensors"), tensors, count, &format, 1, diag);
}

static bool fail_index(Diag *diag, const char *path, const char *why, const char *name)
{
    diag_error(diag, "N002", (Span){0}, "'%s': %s '%.80s'", path, why, name);
    return false;
}

/* The tensors of one file join the set. */
static bool join_file(Arena *arena, StSet *set, const char *path, Diag *diag)
{
    StFile file;
    uint32_t known;
    if (!st_open(arena, path, &file, diag))
        return false;
    for (uint32_t i = 0; i < file.tensors.len; i++) {
        if (map_get(&set->names, file.tensors.at[i].name, &known)) {
            st_close(&file);
            return fail_index(diag, path, "another shard has the tensor",
                              file.tensors.at[i].name.at);
        }
        map_put(arena, &set->names, file.tensors.at[i].name, set->all.len);
        vec_push(arena, &set->all, &file.tensors.at[i]);
    }
    vec_push(arena, &set->files, file);
    return true;
}

/* A shard lies beside its index: no path, no hidden file. */
static bool plain_name(const char *name)
{
    return *name && *name != '.' && !strchr(name, '/') && strlen(name) < 256;
}

static bool join_shards(Arena *arena, StSet *set, const char *path, const json_t *weights,
                        Diag *diag)
{
    Map opened = {0};
    uint32_t slot;
    const char *name;
    json_t *shard;
    json_object_foreach((json_t *)(uintptr_t)weights, name, shard)
    {
        const char *file = json_string_value(shard);
        if (!file || !plain_name(file))
            return fail_index(diag, path, "no plain file name for tensor", name);
        if (!map_get(&opened, str_from(file), &slot)) {
            if (!join_file(arena, set, path_join(arena, path_dir(arena, path), file), diag))
                return false;
            map_put(arena, &opened, str_copy(arena, str_from(file)), 1);
        }
        if (!st_set_find(set, str_from(name)))
            return fail_index(diag, path, "its shard lacks the tensor", name);
    }
    return true;
}

static bool open_index(Arena *arena, const char *path, StSet *set, Diag *diag)
{
    Str text;
    json_error_t error;
    if (!file_read(arena, path, 100u << 20, &text, diag))
        return false;
    json_t *index = json_loadb(text.at, text.len, JSON_REJECT_DUPLICATES, &error);
    const json_t *weights = json_object_get(index, "weight_map");
    bool ok = json_is_object(weights)
                  ? join_shards(arena, set, path, weights, diag)
                  : fail_index(diag, path, "no JSON object with a field", "weight_map");
    json_decref(index);
    return ok;
}

static bool open_path(Arena *arena, const char *path, StSet *set, Diag *diag)
{
    if (!file_is_dir(path))
        return str_ends(str_from(path), ".json") ? open_index(arena, path, set, diag)
                                                 : join_file(arena, set, path, diag);
    const char *index = path_join(arena, path, "model.safetensors.index.json");
    if (file_exists(index))
        return open_index(arena, index, set, diag);
    return join_file(arena, set, path_join(arena, path, "model.safetensors"), diag);
}

bool st_set_open(Arena *arena, const char *path, StSet *set, Diag *diag)
{
    *set = (StSet){0};
    if (open_path(arena, path, set, diag))
        return true;
    st_set_close(set);
    return false;
}

void st_set_close(StSet *set)
{
    for (uint32_t i = 0; i < set->files.len; i++)
        st_close(&set->files.at[i]);
    *set = (StSet){0};
}

const StTensor *st_set_find(const StSet *set, Str name)
{
    uint32_t index;
    return map_get(&set->names, name, &index) ? set->all.at[index] : NULL;
}
