/*
 * The Python module dtrap_sdt: a Provider, its Probes, and the types of arguments.
 *
 * Only the stable ABI of Python 3.10 is used, so that one build serves all later
 * versions.  The lock of the interpreter is held while a probe fires, so nobody fires
 * while a provider is unloaded.
 */
#define Py_LIMITED_API 0x030a0000
#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <errno.h>

#include "include/dtrap-provider.h"

typedef struct {
	PyObject_HEAD dtrap_provider *provider;
} Provider;

typedef struct {
	PyObject_HEAD dtrap_probe *probe;
	PyObject *provider; /* the native probe is a part of it */
	PyObject *name;
	Py_ssize_t nargs;
	enum dtrap_arg types[DTRAP_PROBE_ARGS];
} Probe;

static PyTypeObject *provider_type, *probe_type;

/* An exception for an error of the library. */
static PyObject *
complain(int error)
{
	const char *words = dtrap_provider_strerror(error);

	if (error == -ENOMEM)
		return PyErr_NoMemory();
	if (error == -EINVAL || error == -E2BIG || error == -EEXIST) {
		PyErr_SetString(PyExc_ValueError, words);
		return NULL;
	}
	PyObject *args = Py_BuildValue("is", -error, words);
	if (args != NULL)
		PyErr_SetObject(PyExc_OSError, args);
	Py_XDECREF(args);
	return NULL;
}

static PyObject *
none(void)
{
	Py_INCREF(Py_None);
	return Py_None;
}

static PyObject *
result(int error)
{
	if (error != 0)
		return complain(error);
	return none();
}

/* ---- firing ---- */

/* What is no integer and no number with a fraction arrives as 0. */
static uint64_t
integer_of(PyObject *arg)
{
	uint64_t value = 0;

	if (PyLong_Check(arg))
		return PyLong_AsUnsignedLongLongMask(arg);
	if (!PyFloat_Check(arg))
		return 0;
	PyObject *whole = PyNumber_Long(arg);
	if (whole != NULL)
		value = PyLong_AsUnsignedLongLongMask(whole);
	Py_XDECREF(whole);
	PyErr_Clear(); /* it was no number */
	return value;
}

/* The text of a str as UTF-8 or of bytes, or NULL.  *held keeps it. */
static const char *
text_of(PyObject *arg, PyObject **held)
{
	if (PyBytes_Check(arg))
		return PyBytes_AsString(arg);
	if (!PyUnicode_Check(arg))
		return NULL;
	const char *text = PyUnicode_AsUTF8AndSize(arg, NULL);
	if (text != NULL)
		return text;
	/* It has halves of characters, as names of files may. */
	PyErr_Clear();
	*held = PyUnicode_AsEncodedString(arg, "utf-8", "backslashreplace");
	if (*held != NULL)
		return PyBytes_AsString(*held);
	PyErr_Clear();
	return NULL;
}

static void
fire(const Probe *self, PyObject *const *args)
{
	PyObject *held[DTRAP_PROBE_ARGS] = { NULL };
	uint64_t values[DTRAP_PROBE_ARGS];

	for (Py_ssize_t i = 0; i < self->nargs; i++)
		values[i] = self->types[i] == DTRAP_STRING ?
		    (uintptr_t)text_of(args[i], &held[i]) :
		    integer_of(args[i]);
	dtrap_probe_fire(self->probe, values);
	for (Py_ssize_t i = 0; i < self->nargs; i++)
		Py_XDECREF(held[i]);
}

/* Values are not looked at when nobody watches: so they are never a reason for an
 * exception, which a tracer would then cause. */
static PyObject *
probe_fire(PyObject *object, PyObject *const *args, Py_ssize_t nargs)
{
	const Probe *self = (const Probe *)object;

	if (nargs != self->nargs)
		return PyErr_Format(PyExc_TypeError,
		    "probe %U has %zd arguments, not %zd", self->name,
		    self->nargs, nargs);
	if (dtrap_probe_watched(self->probe))
		fire(self, args);
	return none();
}

static PyObject *
probe_is_enabled(PyObject *object, void *closure)
{
	const Probe *self = (const Probe *)object;

	return PyBool_FromLong(dtrap_probe_watched(self->probe));
}

static PyObject *
probe_name(PyObject *object, void *closure)
{
	PyObject *name = ((const Probe *)object)->name;

	Py_INCREF(name);
	return name;
}

static void
probe_dealloc(PyObject *object)
{
	Probe *self = (Probe *)object;
	PyTypeObject *type = Py_TYPE(object);

	Py_XDECREF(self->name);
	Py_XDECREF(self->provider);
	PyObject_Free(self);
	Py_DECREF(type);
}

static PyMethodDef probe_methods[] = {
	{ "fire", (PyCFunction)(void (*)(void))probe_fire, METH_FASTCALL,
	    PyDoc_STR(
		"fire(*args): pass by the probe. A value that does not fit "
		"its type arrives as 0.") },
	{ NULL, NULL, 0, NULL },
};

static PyGetSetDef probe_members[] = {
	{ "is_enabled", probe_is_enabled, NULL,
	    PyDoc_STR("Does somebody watch the probe?"), NULL },
	{ "name", probe_name, NULL, PyDoc_STR("The name of the probe."), NULL },
	{ NULL, NULL, NULL, NULL, NULL },
};

static PyType_Slot probe_slots[] = {
	{ Py_tp_dealloc, probe_dealloc },
	{ Py_tp_methods, probe_methods },
	{ Py_tp_getset, probe_members },
	{ Py_tp_doc,
	    (void *)PyDoc_STR("A probe; Provider.add_probe makes it.") },
	{ 0, NULL },
};

static PyType_Spec probe_spec = {
	.name = "dtrap_sdt.Probe",
	.basicsize = sizeof(Probe),
	.flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION,
	.slots = probe_slots,
};

/* ---- making ---- */

/* A type is one of Python or a number of the module; 0 after an exception. */
static int
type_of(PyObject *arg)
{
	static const char *const wanted =
	    "the type of an argument is int, bool, str, bytes, or INT8 ... POINTER "
	    "of the module";

	if (arg == (PyObject *)&PyLong_Type)
		return DTRAP_INT64;
	if (arg == (PyObject *)&PyBool_Type)
		return DTRAP_UINT8;
	if (arg == (PyObject *)&PyUnicode_Type ||
	    arg == (PyObject *)&PyBytes_Type)
		return DTRAP_STRING;
	if (!PyLong_Check(arg)) {
		PyErr_SetString(PyExc_TypeError, wanted);
		return 0;
	}
	long type = PyLong_AsLong(arg);
	if (type >= DTRAP_INT8 && type <= DTRAP_POINTER)
		return (int)type;
	if (!PyErr_Occurred() || PyErr_ExceptionMatches(PyExc_OverflowError))
		PyErr_SetString(PyExc_ValueError, wanted);
	return 0;
}

/* The probe's types are args from the second on. */
static int
read_types(Probe *probe, PyObject *args)
{
	probe->nargs = PyTuple_Size(args) - 1;
	if (probe->nargs > DTRAP_PROBE_ARGS) {
		complain(-E2BIG);
		return -1;
	}
	for (Py_ssize_t i = 0; i < probe->nargs; i++) {
		int type = type_of(PyTuple_GetItem(args, i + 1));
		if (type == 0)
			return -1;
		probe->types[i] = (enum dtrap_arg)type;
	}
	return 0;
}

static int
add(Probe *probe, Provider *provider, PyObject *args, const char *function)
{
	PyObject *name =
	    PyTuple_Size(args) > 0 ? PyTuple_GetItem(args, 0) : NULL;

	if (name == NULL || !PyUnicode_Check(name)) {
		PyErr_SetString(PyExc_TypeError,
		    "the first argument is the name of the probe");
		return -1;
	}
	const char *text = PyUnicode_AsUTF8AndSize(name, NULL);
	if (text == NULL || read_types(probe, args) != 0)
		return -1;
	int error = dtrap_provider_probe(provider->provider, function, text,
	    (unsigned)probe->nargs, probe->types, &probe->probe);
	if (error != 0) {
		complain(error);
		return -1;
	}
	Py_INCREF(name);
	probe->name = name;
	Py_INCREF(provider);
	probe->provider = (PyObject *)provider;
	return 0;
}

static PyObject *
provider_add_probe(PyObject *self, PyObject *args, PyObject *keywords)
{
	static char *names[] = { (char *)"function", NULL };
	const char *function = NULL;
	PyObject *no_args = PyTuple_New(0);

	if (no_args == NULL)
		return NULL;
	int ok = PyArg_ParseTupleAndKeywords(
	    no_args, keywords, "|$z:add_probe", names, &function);
	Py_DECREF(no_args);
	Probe *probe = ok ? PyObject_New(Probe, probe_type) : NULL;
	if (probe == NULL)
		return NULL;
	probe->name = probe->provider = NULL;
	if (add(probe, (Provider *)self, args, function) == 0)
		return (PyObject *)probe;
	Py_DECREF(probe);
	return NULL;
}

static PyObject *
provider_load(PyObject *self, PyObject *args)
{
	return result(dtrap_provider_load(((Provider *)self)->provider));
}

static PyObject *
provider_unload(PyObject *self, PyObject *args)
{
	return result(dtrap_provider_unload(((Provider *)self)->provider));
}

static PyObject *
provider_new(PyTypeObject *type, PyObject *args, PyObject *keywords)
{
	static char *names[] = { (char *)"name", NULL };
	const char *name;

	if (!PyArg_ParseTupleAndKeywords(
		args, keywords, "s:Provider", names, &name))
		return NULL;
	Provider *self = PyObject_New(Provider, type);
	if (self == NULL)
		return NULL;
	int error = dtrap_provider_create(name, &self->provider);
	if (error == 0)
		return (PyObject *)self;
	Py_DECREF(self);
	return complain(error);
}

static void
provider_dealloc(PyObject *object)
{
	PyTypeObject *type = Py_TYPE(object);

	dtrap_provider_destroy(((Provider *)object)->provider);
	PyObject_Free(object);
	Py_DECREF(type);
}

static PyMethodDef provider_methods[] = {
	{ "add_probe", (PyCFunction)(void (*)(void))provider_add_probe,
	    METH_VARARGS | METH_KEYWORDS,
	    PyDoc_STR(
		"add_probe(name, *types, function=None): a new Probe, before "
		"load(). function is probefunc in D.") },
	{ "load", provider_load, METH_NOARGS,
	    PyDoc_STR("load(): tracers see the probes now.") },
	{ "unload", provider_unload, METH_NOARGS,
	    PyDoc_STR("unload(): the probes are gone until load().") },
	{ NULL, NULL, 0, NULL },
};

static PyType_Slot provider_slots[] = {
	{ Py_tp_new, provider_new },
	{ Py_tp_dealloc, provider_dealloc },
	{ Py_tp_methods, provider_methods },
	{ Py_tp_doc,
	    (void *)PyDoc_STR(
		"Provider(name): static probes, made at run time. It "
		"ends with its last reference; each probe has one.") },
	{ 0, NULL },
};

static PyType_Spec provider_spec = {
	.name = "dtrap_sdt.Provider",
	.basicsize = sizeof(Provider),
	.flags = Py_TPFLAGS_DEFAULT,
	.slots = provider_slots,
};

/* ---- the module ---- */

static const struct {
	const char *name;
	enum dtrap_arg type;
} numbers[] = {
	{ "INT8", DTRAP_INT8 },
	{ "UINT8", DTRAP_UINT8 },
	{ "INT16", DTRAP_INT16 },
	{ "UINT16", DTRAP_UINT16 },
	{ "INT32", DTRAP_INT32 },
	{ "UINT32", DTRAP_UINT32 },
	{ "INT64", DTRAP_INT64 },
	{ "UINT64", DTRAP_UINT64 },
	{ "STRING", DTRAP_STRING },
	{ "POINTER", DTRAP_POINTER },
};

static int
fill(PyObject *module)
{
	provider_type = (PyTypeObject *)PyType_FromModuleAndSpec(
	    module, &provider_spec, NULL);
	probe_type =
	    (PyTypeObject *)PyType_FromModuleAndSpec(module, &probe_spec, NULL);
	if (provider_type == NULL || probe_type == NULL ||
	    PyModule_AddType(module, provider_type) != 0 ||
	    PyModule_AddType(module, probe_type) != 0)
		return -1;
	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
		if (PyModule_AddIntConstant(
			module, numbers[i].name, numbers[i].type) != 0)
			return -1;
	return 0;
}

static struct PyModuleDef definition = {
	PyModuleDef_HEAD_INIT,
	.m_name = "dtrap_sdt",
	.m_doc = PyDoc_STR("Static probes that a program makes while it runs."),
	.m_size = -1,
};

PyMODINIT_FUNC PyInit_dtrap_sdt(void);

PyMODINIT_FUNC
PyInit_dtrap_sdt(void)
{
	PyObject *module = PyModule_Create(&definition);

	if (module != NULL && fill(module) != 0) {
		Py_DECREF(module);
		return NULL;
	}
	return module;
}
