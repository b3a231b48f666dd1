/*
 * A second opinion on an instruction's length, and instructions as text: the only
 * file that knows Capstone.  doc/unwinding.md says why it is the second.
 *
 * The library is loaded on first use.  Nine of ten relocations of a program that
 * is linked with it are in its tables, and until they are done main() has not
 * begun: a signal that comes meanwhile ends us without a word.
 */
#include "disasm/insn.h"

#include <capstone/capstone.h>
#include <dlfcn.h>
#include <stdio.h>

#include "disasm/text.h"

#define TEXT_OF(number) #number
#define SONAME(number)  "libcapstone.so." TEXT_OF(number)

static struct {
	__typeof__(cs_open) *open;
	__typeof__(cs_disasm) *disasm;
	__typeof__(cs_free) *free;
} cs;
static bool missing;

static bool
load(void)
{
	void *lib = dlopen(SONAME(CS_API_MAJOR), RTLD_NOW | RTLD_LOCAL);

	if (lib == NULL)
		return false;
	cs.open = (__typeof__(cs.open))dlsym(lib, "cs_open");
	cs.disasm = (__typeof__(cs.disasm))dlsym(lib, "cs_disasm");
	cs.free = (__typeof__(cs.free))dlsym(lib, "cs_free");
	return cs.open != NULL && cs.disasm != NULL && cs.free != NULL;
}

/* The handle, opened on first use and kept; 0 when Capstone will not open. */
static csh
capstone(void)
{
	static csh handle;
	static bool tried;

	if (!tried) {
		tried = true;
		missing = !load() ||
		    cs.open(INSN_CAPSTONE_ARCH, INSN_CAPSTONE_MODE, &handle) !=
			CS_ERR_OK;
		if (missing)
			handle = 0;
	}
	return handle;
}

bool
insn_unopposed(void)
{
	return missing;
}

bool
insn_agreed(const struct insn *insn)
{
	cs_insn *out = NULL;
	csh handle = capstone();
	bool agreed = true;

	if (handle == 0)
		return true;
	size_t n =
	    cs.disasm(handle, insn->bytes, insn->len, insn->addr, 1, &out);
	if (n == 1)
		agreed = out->size == insn->len;
	cs.free(out, n);
	return agreed;
}

size_t
insn_text(const uint8_t *p, size_t n, uint64_t addr, char *text, size_t size)
{
	cs_insn *out = NULL;
	csh handle = capstone();
	size_t length = 0;

	if (handle == 0)
		return 0;
	size_t found = cs.disasm(handle, p, n, addr, 1, &out);
	if (found == 1) {
		length = out->size;
		snprintf(text, size, "%s%s%s", out->mnemonic,
		    out->op_str[0] != 0 ? " " : "", out->op_str);
	}
	cs.free(out, found);
	return length;
}
