/*
 * What index.js asks of the library; Node-API, so that one build serves all versions
 * of Node.  An error is a JavaScript exception, with the library's words.
 *
 * Providers and probes are external values.  Who has a probe has its provider, too.
 */
#define NAPI_VERSION 8
#include <node_api.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include "sdt/node/shared.h"

#define TEXT_ROOM 1024 /* longer strings need memory of the heap */
#define NAME_ROOM 256  /* for names; longer ones are too long in any case */

struct place {
	const struct provider *provider;
	unsigned number;
	unsigned nargs;
	enum dtrap_arg types[DTRAP_PROBE_ARGS];
};

static dtrap_probe *
probe_at(const struct place *place)
{
	return provider_probe(place->provider, place->number);
}

static napi_value
complain(napi_env env, int error)
{
	const char *words = dtrap_provider_strerror(error);
	char code[16];

	snprintf(code, sizeof(code), "%d", -error);
	if (error == -EINVAL || error == -E2BIG || error == -EEXIST)
		napi_throw_range_error(env, code, words);
	else
		napi_throw_error(env, code, words);
	return NULL;
}

/* The arguments of a call, undefined where there are fewer. */
static bool
arguments(napi_env env, napi_callback_info info, size_t n, napi_value *args)
{
	return napi_get_cb_info(env, info, &n, args, NULL, NULL) == napi_ok;
}

/* What an external value among the arguments is, or NULL and an exception. */
static void *
external(napi_env env, napi_value value)
{
	void *data = NULL;

	if (napi_get_value_external(env, value, &data) != napi_ok)
		complain(env, -EINVAL);
	return data;
}

/* A name; one that does not fit is cut and is too long for the library. */
static bool
name_of(napi_env env, napi_value value, char *name)
{
	size_t n;

	if (napi_get_value_string_utf8(env, value, name, NAME_ROOM, &n) ==
	    napi_ok)
		return true;
	complain(env, -EINVAL);
	return false;
}

/* ---- making ---- */

static void
provider_end(napi_env env, void *provider, void *hint)
{
	provider_free(provider);
}

/* create(name) */
static napi_value
create(napi_env env, napi_callback_info info)
{
	struct provider *provider;
	char name[NAME_ROOM];
	napi_value arg, result;

	if (!arguments(env, info, 1, &arg) || !name_of(env, arg, name))
		return NULL;
	int error = provider_new(name, &provider);
	if (error != 0)
		return complain(env, error);
	if (napi_create_external(env, provider, provider_end, NULL, &result) !=
	    napi_ok) {
		provider_free(provider);
		return complain(env, -ENOMEM);
	}
	return result;
}

static void
place_end(napi_env env, void *place, void *hint)
{
	free(place);
}

/* The numbers of an array of types. */
static int
read_types(napi_env env, napi_value array, struct place *place)
{
	uint32_t n;

	if (napi_get_array_length(env, array, &n) != napi_ok)
		return -EINVAL;
	if (n > DTRAP_PROBE_ARGS)
		return -E2BIG;
	place->nargs = n;
	for (uint32_t i = 0; i < n; i++) {
		napi_value element;
		int32_t type;
		if (napi_get_element(env, array, i, &element) != napi_ok ||
		    napi_get_value_int32(env, element, &type) != napi_ok)
			return -EINVAL;
		place->types[i] = (enum dtrap_arg)type;
	}
	return 0;
}

/* add(provider, name, types) */
static napi_value
add(napi_env env, napi_callback_info info)
{
	char name[NAME_ROOM];
	napi_value args[3], result;

	if (!arguments(env, info, 3, args))
		return NULL;
	struct provider *provider = external(env, args[0]);
	if (provider == NULL || !name_of(env, args[1], name))
		return NULL;
	struct place *place = calloc(1, sizeof(*place));
	int error = place != NULL ? read_types(env, args[2], place) : -ENOMEM;
	if (error == 0) {
		place->provider = provider;
		error = provider_add(
		    provider, name, place->nargs, place->types, &place->number);
	}
	if (error == 0 &&
	    napi_create_external(env, place, place_end, NULL, &result) ==
		napi_ok)
		return result;
	free(place);
	return complain(env, error != 0 ? error : -ENOMEM);
}

/* load(provider) */
static napi_value
load(napi_env env, napi_callback_info info)
{
	napi_value arg;

	if (!arguments(env, info, 1, &arg))
		return NULL;
	struct provider *provider = external(env, arg);
	int error = provider != NULL ? provider_load(provider) : 0;
	return error != 0 ? complain(env, error) : NULL;
}

/* unload(provider) */
static napi_value
unload(napi_env env, napi_callback_info info)
{
	napi_value arg;

	if (!arguments(env, info, 1, &arg))
		return NULL;
	struct provider *provider = external(env, arg);
	if (provider != NULL)
		provider_unload(provider);
	return NULL;
}

/* ---- firing ---- */

/* semaphore(probe): an ArrayBuffer over the counter of who watches, as long as the
 * provider is loaded; undefined where none can be had. */
static napi_value
semaphore(napi_env env, napi_callback_info info)
{
	napi_value arg, result;

	if (!arguments(env, info, 1, &arg))
		return NULL;
	const struct place *place = external(env, arg);
	const dtrap_probe *probe = place != NULL ? probe_at(place) : NULL;
	if (probe == NULL ||
	    napi_create_external_arraybuffer(env,
		(void *)(uintptr_t)probe->semaphore, sizeof(*probe->semaphore),
		NULL, NULL, &result) != napi_ok)
		return NULL;
	return result;
}

/* watched(probe) */
static napi_value
watched(napi_env env, napi_callback_info info)
{
	napi_value arg, result;

	if (!arguments(env, info, 1, &arg))
		return NULL;
	const struct place *place = external(env, arg);
	if (place == NULL ||
	    napi_get_boolean(
		env, dtrap_probe_watched(probe_at(place)), &result) != napi_ok)
		return NULL;
	return result;
}

/* What is no number arrives as 0. */
static uint64_t
integer_of(napi_env env, napi_value value)
{
	napi_valuetype type;
	int64_t number = 0;
	bool flag = false;

	if (napi_typeof(env, value, &type) != napi_ok)
		return 0;
	if (type == napi_number)
		napi_get_value_int64(env, value, &number);
	else if (type == napi_bigint)
		napi_get_value_bigint_int64(env, value, &number, &flag);
	else if (type == napi_boolean &&
	    napi_get_value_bool(env, value, &flag) == napi_ok)
		number = flag;
	return (uint64_t)number;
}

/* The text of a string in room, which has TEXT_ROOM bytes, or in memory of the heap;
 * NULL if it is none. */
static char *
text_of(napi_env env, napi_value value, char *room)
{
	size_t n;
	char *text = room;

	if (napi_get_value_string_utf8(env, value, NULL, 0, &n) != napi_ok)
		return NULL;
	if (n >= TEXT_ROOM)
		text = malloc(n + 1);
	if (text != NULL)
		napi_get_value_string_utf8(env, value, text, n + 1, &n);
	return text;
}

static void
pass(napi_env env, const struct place *place, const napi_value *args)
{
	char rooms[DTRAP_PROBE_ARGS][TEXT_ROOM];
	char *texts[DTRAP_PROBE_ARGS] = { NULL };
	uint64_t values[DTRAP_PROBE_ARGS];

	for (unsigned i = 0; i < place->nargs; i++) {
		if (place->types[i] == DTRAP_STRING) {
			texts[i] = text_of(env, args[i], rooms[i]);
			values[i] = (uintptr_t)texts[i];
		} else {
			values[i] = integer_of(env, args[i]);
		}
	}
	dtrap_probe_fire(probe_at(place), values);
	for (unsigned i = 0; i < place->nargs; i++)
		if (texts[i] != rooms[i])
			free(texts[i]);
}

/* fire(probe, argument...) */
static napi_value
fire(napi_env env, napi_callback_info info)
{
	napi_value args[1 + DTRAP_PROBE_ARGS];

	if (!arguments(env, info, 1 + DTRAP_PROBE_ARGS, args))
		return NULL;
	const struct place *place = external(env, args[0]);
	if (place != NULL && dtrap_probe_watched(probe_at(place)))
		pass(env, place, args + 1);
	return NULL;
}

/* ---- the module ---- */

NAPI_MODULE_INIT()
{
	const napi_property_descriptor functions[] = {
		{ "create", NULL, create, NULL, NULL, NULL, napi_enumerable,
		    NULL },
		{ "add", NULL, add, NULL, NULL, NULL, napi_enumerable, NULL },
		{ "load", NULL, load, NULL, NULL, NULL, napi_enumerable, NULL },
		{ "unload", NULL, unload, NULL, NULL, NULL, napi_enumerable,
		    NULL },
		{ "semaphore", NULL, semaphore, NULL, NULL, NULL,
		    napi_enumerable, NULL },
		{ "watched", NULL, watched, NULL, NULL, NULL, napi_enumerable,
		    NULL },
		{ "fire", NULL, fire, NULL, NULL, NULL, napi_enumerable, NULL },
	};

	napi_define_properties(
	    env, exports, sizeof(functions) / sizeof(functions[0]), functions);
	return exports;
}
