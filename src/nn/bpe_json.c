/* tokenizer.json, in and out. */
#include "nn/bpe_int.h"

#include "base/file.h"
#include "nn/unicode.h"
#include <jansson.h>
#include <string.h>

enum { MOST_TOKENS = 1 << 20, MOST_FILE = 64 << 20 };

/* Bytes that print stand for themselves, the others for characters from U+0100 on (GPT-2's map). */
static bool stands_for_itself(uint32_t byte)
{
    return (byte >= '!' && byte <= '~') || (byte >= 0xA1 && byte <= 0xAC) || byte >= 0xAE;
}

uint32_t bpe_byte_char(uint8_t byte)
{
    uint32_t other = 0x100;
    if (stands_for_itself(byte))
        return byte;
    for (uint32_t b = 0; b < byte; b++)
        other += !stands_for_itself(b);
    return other;
}

/* The byte that each character below U+0200 stands for, or -1. */
typedef struct ByteMap {
    int16_t byte[0x200];
} ByteMap;

static ByteMap make_byte_map(void)
{
    ByteMap map;
    memset(&map, 0xFF, sizeof map);
    for (uint32_t b = 0; b < 0x100; b++)
        map.byte[bpe_byte_char((uint8_t)b)] = (int16_t)b;
    return map;
}

static bool fail_file(Diag *diag, const char *what, const char *why)
{
    diag_error(diag, "N004", (Span){0}, "tokenizer: %s %s", what, why);
    return false;
}

/* "Ġthe" -> " the"; false where a character stands for no byte. */
static bool to_bytes(Arena *arena, const ByteMap *map, Str text, Str *bytes)
{
    char *out = arena_alloc(arena, text.len + 1);
    size_t len = 0;
    while (text.len) {
        size_t step;
        uint32_t c = uni_decode(text, &step);
        int byte = c < 0x200 ? map->byte[c] : -1;
        if (byte < 0)
            return false;
        out[len++] = (char)byte;
        text = str_slice(text, step, text.len);
    }
    *bytes = (Str){out, len};
    return len > 0;
}

static bool put_token(Bpe *bpe, json_int_t id, Str bytes, Diag *diag, const char *name)
{
    if (id < 0 || id >= MOST_TOKENS)
        return fail_file(diag, name, "has an id that is not 0 to 1,048,575");
    while (bpe->tokens.len <= (uint32_t)id)
        vec_push(&bpe->arena, &bpe->tokens, STR(""));
    if (bpe->tokens.at[id].len && !str_equal(bpe->tokens.at[id], bytes))
        return fail_file(diag, name, "has the id of another token");
    bpe->tokens.at[id] = bytes;
    return true;
}

static bool read_vocab(Bpe *bpe, json_t *vocab, const ByteMap *map, Map *ids, Diag *diag)
{
    const char *name;
    json_t *id;
    if (!json_is_object(vocab) || json_object_size(vocab) > MOST_TOKENS)
        return fail_file(diag, "model.vocab", "is no object of at most 1,048,576 tokens");
    json_object_foreach(vocab, name, id)
    {
        Str bytes;
        if (!to_bytes(&bpe->arena, map, str_from(name), &bytes))
            return fail_file(diag, name, "is not written in byte characters");
        if (!json_is_integer(id) || !put_token(bpe, json_integer_value(id), bytes, diag, name))
            return json_is_integer(id) ? false : fail_file(diag, name, "has no integer as id");
        map_put(&bpe->arena, ids, bytes, (uint32_t)json_integer_value(id));
    }
    for (uint32_t b = 0; b < 256; b++) {
        char byte = (char)b;
        if (!map_get(ids, (Str){&byte, 1}, &bpe->byte_id[b]))
            return fail_file(diag, "model.vocab", "lacks the token of a single byte");
    }
    return true;
}

/* A merge is "left right" or ["left", "right"]. */
static bool merge_sides(const json_t *merge, Str *left, Str *right)
{
    Str whole = str_from(json_string_value(merge));
    if (json_is_string(merge))
        return str_next(&whole, ' ', left) && ((*right = whole), right->len > 0);
    *left = str_from(json_string_value(json_array_get(merge, 0)));
    *right = str_from(json_string_value(json_array_get(merge, 1)));
    return json_array_size(merge) == 2 && left->len && right->len;
}

static bool read_merge(Bpe *bpe, const json_t *merge, const ByteMap *map, const Map *ids,
                       Diag *diag)
{
    Str left, right;
    BpeMerge m;
    Buf whole = {0};
    if (!merge_sides(merge, &left, &right) || !to_bytes(&bpe->arena, map, left, &left) ||
        !to_bytes(&bpe->arena, map, right, &right))
        return fail_file(diag, "model.merges", "holds something that is no pair of tokens");
    buf_str(&whole, left);
    buf_str(&whole, right);
    bool known = map_get(ids, left, &m.left) && map_get(ids, right, &m.right) &&
                 map_get(ids, buf_view(&whole), &m.id);
    buf_free(&whole);
    if (!known)
        return fail_file(diag, "model.merges", "names a token that is not in model.vocab");
    pair_put(&bpe->arena, &bpe->ranks, m.left, m.right, bpe->merges.len);
    vec_push(&bpe->arena, &bpe->merges, m);
    return true;
}

static bool flag(const json_t *object, const char *key)
{
    return json_is_true(json_object_get(object, key));
}

static bool is_type(const json_t *object, const char *type)
{
    const char *text = json_string_value(json_object_get(object, "type"));
    return text && !strcmp(text, type);
}

static bool read_model(Bpe *bpe, const json_t *model, Diag *diag)
{
    const ByteMap bytes = make_byte_map(), *map = &bytes;
    Map ids = {0};
    const json_t *merges = json_object_get(model, "merges");
    if (!is_type(model, "BPE"))
        return fail_file(diag, "model.type", "is not BPE");
    if (flag(model, "ignore_merges") || flag(model, "byte_fallback") ||
        json_is_number(json_object_get(model, "dropout")))
        return fail_file(diag, "model", "sets ignore_merges, byte_fallback or dropout");
    if (!read_vocab(bpe, json_object_get(model, "vocab"), map, &ids, diag))
        return false;
    if (!json_is_array(merges) || json_array_size(merges) > MOST_TOKENS)
        return fail_file(diag, "model.merges", "is no array of at most 1,048,576 merges");
    for (size_t i = 0; i < json_array_size(merges); i++)
        if (!read_merge(bpe, json_array_get(merges, i), map, &ids, diag))
            return false;
    return true;
}

static bool read_special(Bpe *bpe, const json_t *row, Diag *diag)
{
    const char *content = json_string_value(json_object_get(row, "content"));
    const json_t *id = json_object_get(row, "id");
    if (!content || !*content || !json_is_integer(id))
        return fail_file(diag, "added_tokens", "has a row without content or id");
    if (flag(row, "lstrip") || flag(row, "rstrip") || flag(row, "single_word") ||
        flag(row, "normalized"))
        return fail_file(diag, content, "asks for strip, single_word or normalized");
    BpeSpecial s = {str_copy(&bpe->arena, str_from(content)), (uint32_t)json_integer_value(id),
                    flag(row, "special")};
    if (!put_token(bpe, json_integer_value(id), s.text, diag, content))
        return false;
    vec_push(&bpe->arena, &bpe->specials, s);
    return true;
}

/* NFC or none; then Qwen2's split and the byte map. */
static bool check_steps(Bpe *bpe, const json_t *root, Diag *diag)
{
    const json_t *normalizer = json_object_get(root, "normalizer");
    const json_t *steps = json_object_get(json_object_get(root, "pre_tokenizer"), "pretokenizers");
    const json_t *split = json_array_get(steps, 0), *bytes = json_array_get(steps, 1);
    const char *pattern = json_string_value(
        json_object_get(json_object_get(split, "pattern"), "Regex"));
    const char *behavior = json_string_value(json_object_get(split, "behavior"));
    bpe->compose = is_type(normalizer, "NFC");
    if (normalizer && !json_is_null(normalizer) && !bpe->compose)
        return fail_file(diag, "normalizer", "is not NFC");
    if (json_array_size(steps) != 2 || !is_type(split, "Split") || !is_type(bytes, "ByteLevel"))
        return fail_file(diag, "pre_tokenizer", "is not a Split followed by ByteLevel");
    if (!pattern || strcmp(pattern, BPE_SPLIT_PATTERN) || !behavior ||
        strcmp(behavior, "Isolated") || flag(split, "invert"))
        return fail_file(diag, "pre_tokenizer", "has another split than Qwen2's");
    if (flag(bytes, "add_prefix_space") || flag(bytes, "use_regex"))
        return fail_file(diag, "pre_tokenizer", "sets add_prefix_space or use_regex");
    return true;
}

static bool read_root(Bpe *bpe, const json_t *root, Diag *diag)
{
    const json_t *added = json_object_get(root, "added_tokens");
    if (!json_is_object(root))
        return fail_file(diag, "the file", "is no JSON object");
    if (!check_steps(bpe, root, diag) || !read_model(bpe, json_object_get(root, "model"), diag))
        return false;
    for (size_t i = 0; i < json_array_size(added); i++)
        if (!read_special(bpe, json_array_get(added, i), diag))
            return false;
    return true;
}

Bpe *bpe_parse(Str text, Diag *diag)
{
    json_error_t error;
    json_t *root = json_loadb(text.at, text.len, JSON_REJECT_DUPLICATES, &error);
    Bpe *bpe = heap_alloc(sizeof *bpe);
    bool ok = root ? read_root(bpe, root, diag)
                   : fail_file(diag, "the file is no JSON:", error.text);
    json_decref(root);
    if (ok)
        return bpe;
    bpe_close(bpe);
    return NULL;
}

Bpe *bpe_open(const char *path, Diag *diag)
{
    Arena arena = {0};
    Str text;
    const char *outer = diag->file;
    diag->file = path;
    Bpe *bpe = file_read(&arena, path, MOST_FILE, &text, diag) ? bpe_parse(text, diag) : NULL;
    diag->file = outer;
    arena_drop(&arena);
    return bpe;
}

static void print_token(Buf *out, Str bytes)
{
    Buf text = {0};
    for (size_t i = 0; i < bytes.len; i++)
        uni_encode(&text, bpe_byte_char((uint8_t)bytes.at[i]));
    buf_json_str(out, buf_view(&text));
    buf_free(&text);
}

static bool is_added(const Bpe *bpe, uint32_t id)
{
    for (uint32_t i = 0; i < bpe->specials.len; i++)
        if (bpe->specials.at[i].id == id)
            return true;
    return false;
}

static void print_model(const Bpe *bpe, Buf *out)
{
    const char *between = "\n";
    buf_puts(out, "\"model\": {\"type\": \"BPE\", \"dropout\": null, \"unk_token\": null, "
                  "\"continuing_subword_prefix\": \"\", \"end_of_word_suffix\": \"\", "
                  "\"fuse_unk\": false, \"byte_fallback\": false, \"ignore_merges\": false, "
                  "\"vocab\": {");
    for (uint32_t id = 0; id < bpe->tokens.len; id++) {
        if (!bpe->tokens.at[id].len || is_added(bpe, id))
            continue;
        buf_puts(out, between);
        print_token(out, bpe->tokens.at[id]);
        buf_printf(out, ": %u", id);
        between = ",\n";
    }
    buf_puts(out, "}, \"merges\": [");
    for (uint32_t i = 0; i < bpe->merges.len; i++) {
        buf_puts(out, i ? ",\n[" : "\n[");
        print_token(out, bpe->tokens.at[bpe->merges.at[i].left]);
        buf_puts(out, ", ");
        print_token(out, bpe->tokens.at[bpe->merges.at[i].right]);
        buf_char(out, ']');
    }
    buf_puts(out, "]}}\n");
}

static void print_specials(const Bpe *bpe, Buf *out)
{
    buf_puts(out, "\"added_tokens\": [");
    for (uint32_t i = 0; i < bpe->specials.len; i++) {
        buf_printf(out, "%s{\"id\": %u, \"content\": ", i ? ",\n" : "\n", bpe->specials.at[i].id);
        buf_json_str(out, bpe->specials.at[i].text);
        buf_printf(out,
                   ", \"single_word\": false, \"lstrip\": false, \"rstrip\": false, "
                   "\"normalized\": false, \"special\": %s}",
                   bpe->specials.at[i].special ? "true" : "false");
    }
    buf_puts(out, "],\n");
}

void bpe_print(const Bpe *bpe, Buf *out)
{
    buf_puts(out, "{\"version\": \"1.0\", \"truncation\": null, \"padding\": null,\n");
    print_specials(bpe, out);
    buf_printf(out, "\"normalizer\": %s,\n", bpe->compose ? "{\"type\": \"NFC\"}" : "null");
    buf_puts(out, "\"pre_tokenizer\": {\"type\": \"Sequence\", \"pretokenizers\": [{\"type\": "
                  "\"Split\", \"pattern\": {\"Regex\": ");
    buf_json_str(out, STR(BPE_SPLIT_PATTERN));
    buf_puts(out, "}, \"behavior\": \"Isolated\", \"invert\": false}, {\"type\": \"ByteLevel\", "
                  "\"add_prefix_space\": false, \"trim_offsets\": false, \"use_regex\": "
                  "false}]},\n\"post_processor\": null,\n\"decoder\": {\"type\": \"ByteLevel\", "
                  "\"add_prefix_space\": false, \"trim_offsets\": false, \"use_regex\": false},\n");
    print_model(bpe, out);
}
