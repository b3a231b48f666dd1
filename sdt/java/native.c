/*
 * What the package org.dtrap.sdt asks of the library; Native.java says what each
 * function does.  A failure is a Java exception, with the library's words.
 */
#include <jni.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include "include/dtrap-provider.h"

/* Strings up to this length, together, need no memory of the heap. */
#define TEXT_ROOM 1024

static void *
pointer(jlong address)
{
	return (void *)(uintptr_t)address;
}

/* What is asked of `name' cannot be had. */
static void
complain(JNIEnv *env, int error, const char *name)
{
	char text[512];
	bool bad = error == -EINVAL || error == -E2BIG || error == -EEXIST;
	jclass class = (*env)->FindClass(env,
	    bad ? "java/lang/IllegalArgumentException" :
		  "java/lang/IllegalStateException");

	if (class == NULL)
		return;
	snprintf(text, sizeof(text), "%.300s: %s", name,
	    dtrap_provider_strerror(error));
	(*env)->ThrowNew(env, class, text);
}

/* The text of a string that is not NULL; NULL after an exception. */
static const char *
text_of(JNIEnv *env, jstring string)
{
	return (*env)->GetStringUTFChars(env, string, NULL);
}

static void
text_free(JNIEnv *env, jstring string, const char *text)
{
	if (text != NULL)
		(*env)->ReleaseStringUTFChars(env, string, text);
}

static jlong JNICALL
native_create(JNIEnv *env, jclass class, jstring name)
{
	dtrap_provider *provider = NULL;
	const char *text = text_of(env, name);

	if (text == NULL)
		return 0;
	int error = dtrap_provider_create(text, &provider);
	if (error != 0)
		complain(env, error, text);
	text_free(env, name, text);
	return (jlong)(uintptr_t)provider;
}

static dtrap_probe *
add(JNIEnv *env, jlong provider, const char *function, const char *name,
    jintArray types)
{
	enum dtrap_arg args[DTRAP_PROBE_ARGS];
	jint numbers[DTRAP_PROBE_ARGS];
	jsize n = (*env)->GetArrayLength(env, types);
	int error = -E2BIG;
	dtrap_probe *probe = NULL;

	if (n <= DTRAP_PROBE_ARGS) {
		(*env)->GetIntArrayRegion(env, types, 0, n, numbers);
		for (jsize i = 0; i < n; i++)
			args[i] = (enum dtrap_arg)numbers[i];
		error = dtrap_provider_probe(pointer(provider), function, name,
		    (unsigned)n, args, &probe);
	}
	if (error != 0)
		complain(env, error, name);
	return probe;
}

static jlong JNICALL
native_probe(JNIEnv *env, jclass class, jlong provider, jstring function,
    jstring name, jintArray types)
{
	const char *of = text_of(env, function);
	const char *text = of != NULL ? text_of(env, name) : NULL;
	dtrap_probe *probe = NULL;

	if (text != NULL)
		probe = add(env, provider, of, text, types);
	text_free(env, name, text);
	text_free(env, function, of);
	return (jlong)(uintptr_t)probe;
}

static void JNICALL
native_load(JNIEnv *env, jclass class, jlong provider)
{
	int error = dtrap_provider_load(pointer(provider));

	if (error != 0)
		complain(env, error, "provider");
}

static void JNICALL
native_destroy(JNIEnv *env, jclass class, jlong provider)
{
	dtrap_provider_destroy(pointer(provider));
}

static jlong JNICALL
native_semaphore(JNIEnv *env, jclass class, jlong probe)
{
	const dtrap_probe *p = pointer(probe);

	return (jlong)(uintptr_t)p->semaphore;
}

/* With the bytes of strings, or without. */
static void
fire(JNIEnv *env, dtrap_probe *probe, jlongArray values, jint texts, char *text)
{
	uint64_t args[DTRAP_PROBE_ARGS];
	jsize n = (*env)->GetArrayLength(env, values);

	if (n > DTRAP_PROBE_ARGS)
		return;
	(*env)->GetLongArrayRegion(env, values, 0, n, (jlong *)args);
	for (jsize i = 0; i < n; i++)
		if (texts >> i & 1)
			args[i] += (uintptr_t)text;
	dtrap_probe_fire(probe, args);
}

static void JNICALL
native_fire(JNIEnv *env, jclass class, jlong probe, jlongArray values,
    jint texts, jbyteArray bytes)
{
	char room[TEXT_ROOM];
	jsize size = bytes != NULL ? (*env)->GetArrayLength(env, bytes) : 0;
	char *text = size <= TEXT_ROOM ? room : malloc((size_t)size);

	if (text == NULL)
		return;
	if (size > 0)
		(*env)->GetByteArrayRegion(env, bytes, 0, size, (jbyte *)text);
	fire(env, pointer(probe), values, texts, text);
	if (text != room)
		free(text);
}

/* ---- the table ---- */

#define STRING "Ljava/lang/String;"
#define ROW(name, types)                                            \
	{                                                           \
		(char *)#name, (char *)types, (void *)native_##name \
	}

JNIEXPORT jint JNICALL
JNI_OnLoad(JavaVM *vm, void *reserved)
{
	static const JNINativeMethod rows[] = {
		ROW(create, "(" STRING ")J"),
		ROW(probe, "(J" STRING STRING "[I)J"),
		ROW(load, "(J)V"),
		ROW(destroy, "(J)V"),
		ROW(semaphore, "(J)J"),
		ROW(fire, "(J[JI[B)V"),
	};
	JNIEnv *env;

	if ((*vm)->GetEnv(vm, (void **)&env, JNI_VERSION_10) != JNI_OK)
		return JNI_ERR;
	jclass class = (*env)->FindClass(env, "org/dtrap/sdt/Native");
	if (class == NULL ||
	    (*env)->RegisterNatives(
		env, class, rows, sizeof(rows) / sizeof(rows[0])) != 0)
		return JNI_ERR;
	return JNI_VERSION_10;
}
