/* JSON Schema, as far as docs/schema uses it: type, enum, const, minimum, maximum, required, properties,
 * additionalProperties, items, and a $ref to a file beside. Gives the first place that does not fit. */
#ifndef TESTS_SCHEMA_H
#define TESTS_SCHEMA_H

#include "base/file.h"
#include <jansson.h>
#include <stdio.h>
#include <string.h>

static inline json_t *schema_read(const char *name)
{
    char path[160];
    snprintf(path, sizeof path, "docs/schema/%s", name);
    return json_load_file(path, 0, NULL);
}

static inline bool schema_type_is(const json_t *v, const char *type)
{
    if (!strcmp(type, "object"))
        return json_is_object(v);
    if (!strcmp(type, "array"))
        return json_is_array(v);
    if (!strcmp(type, "string"))
        return json_is_string(v);
    if (!strcmp(type, "integer"))
        return json_is_integer(v);
    if (!strcmp(type, "number"))
        return json_is_number(v);
    if (!strcmp(type, "boolean"))
        return json_is_boolean(v);
    return !strcmp(type, "null") && json_is_null(v);
}

static inline bool schema_fits(const json_t *schema, const json_t *v, char *place, size_t size);

static inline bool schema_type_fits(const json_t *type, const json_t *v)
{
    size_t i;
    json_t *one;
    if (json_is_string(type))
        return schema_type_is(v, json_string_value(type));
    json_array_foreach(type, i, one) if (schema_type_is(v, json_string_value(one))) return true;
    return false;
}

static inline bool schema_object_fits(const json_t *schema, const json_t *v, char *place,
                                      size_t size)
{
    json_t *properties = json_object_get(schema, "properties"), *one;
    bool closed = json_is_false(json_object_get(schema, "additionalProperties"));
    size_t i;
    const char *key;
    json_array_foreach(json_object_get(schema, "required"), i, one)
    {
        snprintf(place, size, "%s", json_string_value(one));
        if (!json_object_get(v, json_string_value(one)))
            return false;
    }
    json_object_foreach((json_t *)(uintptr_t)v, key, one)
    {
        const json_t *of = json_object_get(properties, key);
        char below[80] = "";
        if ((!of && closed) || (of && !schema_fits(of, one, below, sizeof below))) {
            snprintf(place, size, "%s.%s", key, below);
            return false;
        }
    }
    return true;
}

static inline bool schema_fits(const json_t *schema, const json_t *v, char *place, size_t size)
{
    const json_t *ref = json_object_get(schema, "$ref"), *type = json_object_get(schema, "type");
    const json_t *values = json_object_get(schema, "enum"), *is = json_object_get(schema, "const");
    const json_t *least = json_object_get(schema, "minimum");
    const json_t *most = json_object_get(schema, "maximum");
    size_t i;
    json_t *one;
    bool ok = !values;
    if (ref) {
        json_t *other = schema_read(json_string_value(ref));
        ok = other && schema_fits(other, v, place, size);
        json_decref(other);
        return ok;
    }
    json_array_foreach(values, i, one) ok = ok || json_equal(one, v);
    ok = ok && (!is || json_equal(is, v)) && (!type || schema_type_fits(type, v));
    if (json_is_number(v))
        ok = ok && (!least || json_number_value(v) >= json_number_value(least)) &&
             (!most || json_number_value(v) <= json_number_value(most));
    json_array_foreach(v, i, one)
        ok = ok && (!json_object_get(schema, "items") ||
                    schema_fits(json_object_get(schema, "items"), one, place, size));
    return ok && (!json_is_object(v) || schema_object_fits(schema, v, place, size));
}

/* NULL, or the first place of a line of JSON that the schema does not take. */
static inline const char *schema_refuses(const char *name, const char *text)
{
    static char place[160];
    json_t *schema = schema_read(name), *v = json_loads(text, JSON_ALLOW_NUL, NULL);
    place[0] = 0;
    bool ok = schema && v && schema_fits(schema, v, place, sizeof place);
    json_decref(schema);
    json_decref(v);
    return ok ? NULL : place;
}

#endif
