/*
 * The only file that knows Capstone: text for people, and a second opinion on
 * an instruction's length.  The decoder itself is x86_64/raw.c, as Capstone
 * 4.0 stops at most of AVX-512 and costs microseconds an instruction.
 */
#include "disasm/insn.h"

#include <capstone/capstone.h>
#include <stdio.h>

/* The handle, opened on first use and kept; 0 when Capstone will not open. */
static csh
capstone(void)
{
	static csh handle;
	static bool tried;

	if (!tried) {
		tried = true;
		if (cs_open(CS_ARCH_X86, CS_MODE_64, &handle) != CS_ERR_OK)
			handle = 0;
	}
	return handle;
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
	    cs_disasm(handle, insn->bytes, insn->len, insn->addr, 1, &out);
	if (n == 1)
		agreed = out->size == insn->len;
	cs_free(out, n);
	return agreed;
}

const char *
insn_text(const struct insn *insn, char *buf, size_t size)
{
	cs_insn *out = NULL;
	csh handle = capstone();
	size_t n = 0, at = 0;

	if (size == 0)
		return buf;
	if (handle != 0)
		n = cs_disasm(
		    handle, insn->bytes, insn->len, insn->addr, 1, &out);
	if (n == 1 && out->size == insn->len) {
		snprintf(buf, size, "%s%s%s", out->mnemonic,
		    out->op_str[0] != '\0' ? " " : "", out->op_str);
		cs_free(out, n);
		return buf;
	}
	cs_free(out, n);
	buf[0] = '\0';
	for (unsigned i = 0; i < insn->len && at < size; i++)
		at += (size_t)snprintf(buf + at, size - at, "%s%02x",
		    i != 0 ? " " : "", insn->bytes[i]);
	return buf;
}
