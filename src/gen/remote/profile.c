/* Profiles of model servers. */
#include "gen/remote/profile.h"

#include "base/file.h"
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { LONGEST_KEY_FILE = 4096, LONGEST_PROFILES = 1 << 20 };

static const char *text_of(Arena *arena, const json_t *object, const char *name)
{
    const char *text = json_string_value(json_object_get(object, name));
    return text ? str_dup(arena, str_from(text)) : NULL;
}

static void number_of(const json_t *object, const char *name, double *into)
{
    const json_t *value = json_object_get(object, name);
    if (json_is_number(value))
        *into = json_number_value(value);
}

static void count_of(const json_t *object, const char *name, int64_t *into)
{
    const json_t *value = json_object_get(object, name);
    if (json_is_integer(value))
        *into = json_integer_value(value);
}

/* ---- the file ---- */

static const char *profile_path(Arena *arena, const ProfileWish *wish)
{
    if (wish->file)
        return wish->file;
    const char *config = getenv("XDG_CONFIG_HOME"), *home = getenv("HOME");
    const char *base = config && config[0] ? config
                       : home              ? path_join(arena, home, ".config")
                                           : NULL;
    const char *path = base ? path_join(arena, base, "acraft/models.json") : NULL;
    return path && file_exists(path) ? path : NULL;
}

static json_t *read_file(Arena *arena, const char *path, Diag *diag)
{
    Str text;
    json_error_t where;
    if (!file_read(arena, path, LONGEST_PROFILES, &text, diag))
        return NULL;
    json_t *root = json_loadb(text.at, text.len, JSON_REJECT_DUPLICATES, &where);
    if (!root)
        diag_error(diag, "M008", (Span){0}, "%s:%d: %s", path, where.line, where.text);
    return root;
}

static void take_settings(Arena *arena, const json_t *profile, ClientConfig *c)
{
    WireParams *p = &c->params;
    const json_t *extra = json_object_get(profile, "extra");
    const json_t *api = json_object_get(profile, "api");
    if (isnan(p->temperature))
        number_of(profile, "temperature", &p->temperature);
    if (isnan(p->top_p))
        number_of(profile, "top_p", &p->top_p);
    if (p->max_tokens < 0)
        count_of(profile, "max_tokens", &p->max_tokens);
    if (!p->extra.len && json_is_object(extra)) {
        char *text = json_dumps(extra, JSON_PRESERVE_ORDER);
        p->extra = str_copy(arena, str_from(text));
        free(text);
    }
    if (json_is_string(api) && !strcmp(json_string_value(api), "completions"))
        p->api = WIRE_COMPLETIONS;
    number_of(profile, "price_prompt", &c->price_prompt);
    number_of(profile, "price_answer", &c->price_answer);
    number_of(profile, "requests_per_minute", &c->requests_per_minute);
}

/* The profile that `model` names, or the default one; NULL: none. */
static const json_t *pick(const json_t *root, const char *model)
{
    const json_t *models = json_object_get(root, "models");
    const char *name = model ? model : json_string_value(json_object_get(root, "default"));
    return name ? json_object_get(models, name) : NULL;
}

static const char *take_profile(Arena *arena, const json_t *profile, ClientConfig *c)
{
    if (!profile)
        return NULL;
    const char *model = text_of(arena, profile, "model");
    take_settings(arena, profile, c);
    if (!c->url)
        c->url = text_of(arena, profile, "url");
    if (model)
        c->params.model = model;
    return text_of(arena, profile, "key_env");
}

/* ---- the key ---- */

static bool key_from_file(Arena *arena, const char *path, ClientConfig *c, Diag *diag)
{
    Str text, line;
    if (!file_read(arena, path, LONGEST_KEY_FILE, &text, diag))
        return false;
    c->key = str_next(&text, '\n', &line) ? str_dup(arena, str_trim(line)) : "";
    return true;
}

static bool key_from_env(const char *name, ClientConfig *c, Diag *diag)
{
    c->key = getenv(name);
    if (!c->key)
        diag_error(diag, "M009", (Span){0},
                   "the variable %s, which should hold the key, is not set", name);
    return c->key != NULL;
}

static const char *env(const char *first, const char *second)
{
    const char *value = getenv(first);
    if (!value || !value[0])
        value = second ? getenv(second) : NULL;
    return value && value[0] ? value : NULL;
}

static bool find_key(Arena *arena, const ProfileWish *wish, const char *profile_env,
                     ClientConfig *c, Diag *diag)
{
    if (c->key)
        return true;
    if (wish->key_file)
        return key_from_file(arena, wish->key_file, c, diag);
    if (wish->key_env)
        return key_from_env(wish->key_env, c, diag);
    if (profile_env)
        return key_from_env(profile_env, c, diag);
    c->key = env("ACRAFT_API_KEY", "OPENAI_API_KEY");
    return true;
}

bool profile_find(Arena *arena, const ProfileWish *wish, ClientConfig *c, Diag *diag)
{
    const char *path = profile_path(arena, wish), *key_env = NULL;
    const char *model = wish->model ? wish->model : env("ACRAFT_MODEL", NULL);
    json_t *root = NULL;
    if (path && !(root = read_file(arena, path, diag)))
        return false;
    c->url = wish->url ? wish->url : env("ACRAFT_URL", NULL);
    c->params.model = model;
    key_env = take_profile(arena, pick(root, model), c);
    json_decref(root);
    if (!c->url)
        c->url = env("OPENAI_BASE_URL", NULL);
    if (!c->url) {
        diag_error(diag, "M004", (Span){0}, "no address of a server is known");
        diag_hint(diag, "--url http://localhost:8000/v1, the variable ACRAFT_URL, or a profile in "
                        "~/.config/acraft/models.json");
        return false;
    }
    return find_key(arena, wish, key_env, c, diag);
}
