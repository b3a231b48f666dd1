/*
 * The ELF file of a provider.
 *
 *	R	headers; what the run-time linker reads; unwind entries; notes,
 *		types and symbols; the section table
 *	R X	a function for each probe
 *	R W	.dynamic; a semaphore for each probe
 *
 * Offsets in the file are addresses.  All of it is mapped, section table
 * included, so a tracer that cannot open the file can put it together from memory.
 * Semaphores are bytes of the file, because the kernel finds them for bpftrace
 * by their offset.
 */
#include "sdt/image.h"

#include <elf.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "sdt/dof.h"
#include "sdt/machine/probe.h"

/* The largest page of a machine would do; this is that of those there are. */
#define PAGE 4096

/* As usual what is loaded comes first: bpftrace reads only notes behind code. */
enum section {
	S_NULL,
	S_HASH,
	S_DYNSYM,
	S_DYNSTR,
	S_EH_FRAME_HDR,
	S_EH_FRAME,
	S_BASE,
	S_TEXT,
	S_DYNAMIC,
	S_PROBES,
	S_NOTES,
	S_DOF,
	S_SYMTAB,
	S_STRTAB,
	S_SHSTRTAB,
	S_COUNT
};

/* In the same order. */
static const char section_names[] =
    "\0.hash\0.dynsym\0.dynstr\0.eh_frame_hdr\0.eh_frame\0.stapsdt.base\0"
    ".text\0.dynamic\0.probes\0.note.stapsdt\0.SUNW_dof\0.symtab\0.strtab\0"
    ".shstrtab";

enum { P_READ, P_EXEC, P_WRITE, P_DYNAMIC, P_EH_FRAME, P_STACK, P_COUNT };

struct maker {
	const struct probes *probes;
	struct bytes *b;
	Elf64_Shdr sections[S_COUNT];
	size_t table; /* of sections */
	size_t text, semaphores;
};

size_t
image_code_bytes(void)
{
	return PROBE_BYTES;
}

/* ---- sections ---- */

static void
begin(struct maker *m, enum section s, size_t align)
{
	m->sections[s].sh_offset = bytes_pad(m->b, align);
	m->sections[s].sh_addralign = align;
}

static void
end(struct maker *m, enum section s)
{
	m->sections[s].sh_size = m->b->len - m->sections[s].sh_offset;
}

static void
whole(struct maker *m, enum section s, size_t align, const void *from, size_t n)
{
	begin(m, s, align);
	bytes_add(m->b, from, n);
	end(m, s);
}

static void
describe(struct maker *m, enum section s, uint32_t type, uint64_t flags)
{
	Elf64_Shdr *h = &m->sections[s];

	h->sh_type = type;
	h->sh_flags = flags;
	if (flags & SHF_ALLOC)
		h->sh_addr = h->sh_offset;
}

/* ---- what the run-time linker reads ---- */

/* It wants a symbol table and a hash of it; no symbol is exported, since the
 * program finds its probes by their offsets. */
static void
linker_tables(struct maker *m)
{
	static const Elf64_Sym none;
	static const uint32_t hash[] = { 1, 1, 0, 0 }; /* a bucket, a symbol */

	whole(m, S_HASH, 8, hash, sizeof(hash));
	whole(m, S_DYNSYM, 8, &none, sizeof(none));
	whole(m, S_DYNSTR, 1, "", 1);
}

static void
dynamic(struct maker *m)
{
	const Elf64_Shdr *s = m->sections;
	const Elf64_Dyn d[] = {
		{ DT_HASH, { s[S_HASH].sh_offset } },
		{ DT_SYMTAB, { s[S_DYNSYM].sh_offset } },
		{ DT_SYMENT, { sizeof(Elf64_Sym) } },
		{ DT_STRTAB, { s[S_DYNSTR].sh_offset } },
		{ DT_STRSZ, { s[S_DYNSTR].sh_size } },
		{ DT_NULL, { 0 } },
	};

	whole(m, S_DYNAMIC, 8, d, sizeof(d));
}

/* ---- unwind entries ---- */

/* One for all probes, which are leaf functions. */
static void
unwind_entries(struct maker *m)
{
	static const uint8_t cfa[] = PROBE_CFA;
	uint32_t size = (uint32_t)(m->probes->count * PROBE_BYTES), word;
	const uint8_t cie[] = { 1, 'z', 'R', 0, PROBE_CODE_ALIGN,
		PROBE_DATA_ALIGN, PROBE_RETURN, 1, 0x1b /* pcrel, sdata4 */ };

	begin(m, S_EH_FRAME, 8);
	size_t at = m->b->len;
	word = 4 + sizeof(cie) + sizeof(cfa); /* 20: no padding is needed */
	bytes_add(m->b, &word, 4);
	word = 0;
	bytes_add(m->b, &word, 4);
	bytes_add(m->b, cie, sizeof(cie));
	bytes_add(m->b, cfa, sizeof(cfa));
	size_t fde = m->b->len;
	word = 16;
	bytes_add(m->b, &word, 4);
	word = (uint32_t)(m->b->len - at); /* back to the CIE */
	bytes_add(m->b, &word, 4);
	word = (uint32_t)(m->text - m->b->len);
	bytes_add(m->b, &word, 4);
	bytes_add(m->b, &size, 4);
	word = 0; /* no augmentation, three nops */
	bytes_add(m->b, &word, 4);
	bytes_add(m->b, &word, 4); /* the end */
	end(m, S_EH_FRAME);

	begin(m, S_EH_FRAME_HDR, 4);
	size_t hdr = m->b->len;
	/* Encodings: pcrel sdata4, udata4, datarel sdata4. */
	bytes_add(m->b, (const uint8_t[]){ 1, 0x1b, 3, 0x3b }, 4);
	const uint32_t words[] = { (uint32_t)(at - m->b->len), 1,
		(uint32_t)(m->text - hdr), (uint32_t)(fde - hdr) };
	bytes_add(m->b, words, sizeof(words));
	end(m, S_EH_FRAME_HDR);
}

/* ---- notes ---- */

static void
arguments(struct bytes *b, const struct probe *p)
{
	char text[64];

	for (unsigned i = 0; i < p->nargs; i++) {
		int n = snprintf(text, sizeof(text), "%s" PROBE_OPERAND,
		    i > 0 ? " " : "", type_of(p->types[i])->size, i * 8);
		bytes_add(b, text, (size_t)n);
	}
	bytes_add(b, "", 1);
}

static void
note(struct maker *m, size_t i)
{
	static const char owner[] = "stapsdt";
	const struct probe *p = m->probes->at[i];
	const uint64_t addrs[] = { m->text + i * PROBE_BYTES,
		m->sections[S_BASE].sh_offset,
		m->semaphores + i * IMAGE_SEMAPHORE };
	Elf64_Nhdr h = { .n_namesz = sizeof(owner), .n_type = 3 };

	size_t head = bytes_add(m->b, &h, sizeof(h));
	bytes_add(m->b, owner, sizeof(owner));
	size_t from = bytes_add(m->b, addrs, sizeof(addrs));
	bytes_text(m->b, m->probes->provider);
	bytes_text(m->b, p->name);
	arguments(m->b, p);
	h.n_descsz = (Elf64_Word)(m->b->len - from);
	bytes_set(m->b, head, &h, sizeof(h));
	bytes_pad(m->b, 4);
}

static void
notes(struct maker *m)
{
	/* Readers compare its address with what notes say. */
	whole(m, S_BASE, 1, "", 1);
	begin(m, S_NOTES, 4);
	for (size_t i = 0; i < m->probes->count; i++)
		note(m, i);
	end(m, S_NOTES);
}

/* ---- symbols ---- */

static void
symbol(struct maker *m, size_t name, unsigned type, enum section s, size_t addr,
    size_t size)
{
	const Elf64_Sym sym = {
		.st_name = (Elf64_Word)name,
		.st_info = ELF64_ST_INFO(STB_LOCAL, type),
		.st_shndx = (Elf64_Section)s,
		.st_value = addr,
		.st_size = size,
	};

	bytes_add(m->b, &sym, sizeof(sym));
}

/* A function for each probe, and PROVIDER_PROBE_semaphore. */
static void
symbols(struct maker *m)
{
	static const Elf64_Sym none;
	struct bytes strings = { 0 };

	bytes_add(&strings, "", 1);
	begin(m, S_SYMTAB, 8);
	bytes_add(m->b, &none, sizeof(none));
	for (size_t i = 0; i < m->probes->count; i++) {
		const struct probe *p = m->probes->at[i];
		symbol(m, bytes_text(&strings, p->function), STT_FUNC, S_TEXT,
		    m->text + i * PROBE_BYTES, PROBE_SIZE);
		size_t name = bytes_add(
		    &strings, m->probes->provider, strlen(m->probes->provider));
		bytes_add(&strings, "_", 1);
		bytes_add(&strings, p->name, strlen(p->name));
		bytes_text(&strings, "_semaphore");
		symbol(m, name, STT_OBJECT, S_PROBES,
		    m->semaphores + i * IMAGE_SEMAPHORE, IMAGE_SEMAPHORE);
	}
	end(m, S_SYMTAB);
	whole(m, S_STRTAB, 1, strings.at, strings.len);
	m->b->failed |= strings.failed;
	bytes_fini(&strings);
}

/* ---- headers ---- */

static Elf64_Phdr
segment(uint32_t type, uint32_t flags, size_t from, size_t to, size_t align)
{
	return (Elf64_Phdr){ .p_type = type,
		.p_flags = flags,
		.p_offset = from,
		.p_vaddr = from,
		.p_paddr = from,
		.p_filesz = to - from,
		.p_memsz = to - from,
		.p_align = align };
}

static Elf64_Phdr
segment_of(const struct maker *m, uint32_t type, uint32_t flags, enum section s)
{
	const Elf64_Shdr *h = &m->sections[s];

	return segment(type, flags, h->sh_offset, h->sh_offset + h->sh_size,
	    h->sh_addralign);
}

static void
section_table(struct maker *m)
{
	Elf64_Shdr *s = m->sections;
	const char *name = section_names;

	for (int i = S_NULL; i < S_COUNT; i++) {
		s[i].sh_name = (Elf64_Word)(name - section_names);
		name += strlen(name) + 1;
	}
	describe(m, S_HASH, SHT_HASH, SHF_ALLOC);
	describe(m, S_DYNSYM, SHT_DYNSYM, SHF_ALLOC);
	describe(m, S_DYNSTR, SHT_STRTAB, SHF_ALLOC);
	describe(m, S_EH_FRAME_HDR, SHT_PROGBITS, SHF_ALLOC);
	describe(m, S_EH_FRAME, SHT_PROGBITS, SHF_ALLOC);
	describe(m, S_BASE, SHT_PROGBITS, SHF_ALLOC);
	describe(m, S_NOTES, SHT_NOTE, 0);
	describe(m, S_DOF, SHT_PROGBITS, 0);
	describe(m, S_SYMTAB, SHT_SYMTAB, 0);
	describe(m, S_STRTAB, SHT_STRTAB, 0);
	describe(m, S_SHSTRTAB, SHT_STRTAB, 0);
	describe(m, S_TEXT, SHT_PROGBITS, SHF_ALLOC | SHF_EXECINSTR);
	describe(m, S_DYNAMIC, SHT_DYNAMIC, SHF_ALLOC | SHF_WRITE);
	describe(m, S_PROBES, SHT_PROGBITS, SHF_ALLOC | SHF_WRITE);
	s[S_HASH].sh_link = S_DYNSYM;
	s[S_HASH].sh_entsize = 4;
	s[S_DYNSYM].sh_link = s[S_DYNAMIC].sh_link = S_DYNSTR;
	s[S_DYNSYM].sh_entsize = s[S_SYMTAB].sh_entsize = sizeof(Elf64_Sym);
	s[S_DYNSYM].sh_info = 1; /* the first that is not local */
	s[S_SYMTAB].sh_link = S_STRTAB;
	s[S_SYMTAB].sh_info =
	    (Elf64_Word)(s[S_SYMTAB].sh_size / sizeof(Elf64_Sym));
	s[S_DYNAMIC].sh_entsize = sizeof(Elf64_Dyn);
	bytes_set(m->b, m->table, s, sizeof(m->sections));
}

static void
headers(struct maker *m)
{
	const Elf64_Shdr *s = m->sections;
	Elf64_Ehdr h = {
		.e_ident = { ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64,
		    ELFDATA2LSB, EV_CURRENT },
		.e_type = ET_DYN,
		.e_machine = PROBE_ELF,
		.e_version = EV_CURRENT,
		.e_phoff = sizeof(h),
		.e_shoff = m->table,
		.e_ehsize = sizeof(h),
		.e_phentsize = sizeof(Elf64_Phdr),
		.e_phnum = P_COUNT,
		.e_shentsize = sizeof(Elf64_Shdr),
		.e_shnum = S_COUNT,
		.e_shstrndx = S_SHSTRTAB,
	};
	const Elf64_Phdr p[P_COUNT] = {
		[P_READ] = segment(
		    PT_LOAD, PF_R, 0, m->table + sizeof(m->sections), PAGE),
		[P_EXEC] = segment(PT_LOAD, PF_R | PF_X, s[S_TEXT].sh_offset,
		    s[S_TEXT].sh_offset + s[S_TEXT].sh_size, PAGE),
		[P_WRITE] = segment(PT_LOAD, PF_R | PF_W,
		    s[S_DYNAMIC].sh_offset, m->b->len, PAGE),
		[P_DYNAMIC] = segment_of(m, PT_DYNAMIC, PF_R | PF_W, S_DYNAMIC),
		[P_EH_FRAME] =
		    segment_of(m, PT_GNU_EH_FRAME, PF_R, S_EH_FRAME_HDR),
		/* Without it the program's stacks would become executable. */
		[P_STACK] = segment(PT_GNU_STACK, PF_R | PF_W, 0, 0, 16),
	};

	bytes_set(m->b, 0, &h, sizeof(h));
	bytes_set(m->b, sizeof(h), p, sizeof(p));
}

/* ---- all of it ---- */

/* What comes before the code.  It names addresses behind itself, so it is made
 * twice: first to learn how long it is. */
static void
readable(struct maker *m)
{
	static const uint8_t
	    room[sizeof(Elf64_Ehdr) + P_COUNT * sizeof(Elf64_Phdr)];

	m->b->len = 0;
	bytes_add(m->b, room, sizeof(room));
	linker_tables(m);
	unwind_entries(m);
	notes(m);
	begin(m, S_DOF, 8);
	dof_add(m->b, m->probes);
	end(m, S_DOF);
	symbols(m);
	whole(m, S_SHSTRTAB, 1, section_names, sizeof(section_names));
	m->table = bytes_pad(m->b, 8);
	bytes_add(m->b, m->sections, sizeof(m->sections));
}

static void
code(struct maker *m)
{
	static const uint8_t probe[PROBE_BYTES] = PROBE_CODE;

	begin(m, S_TEXT, PAGE);
	for (size_t i = 0; i < m->probes->count; i++)
		bytes_add(m->b, probe, sizeof(probe));
	end(m, S_TEXT);
	m->sections[S_TEXT].sh_addralign = 16;
}

static void
writable(struct maker *m)
{
	static const uint8_t zero[IMAGE_SEMAPHORE];

	bytes_pad(m->b, PAGE);
	dynamic(m);
	begin(m, S_PROBES, 8);
	for (size_t i = 0; i < m->probes->count; i++)
		bytes_add(m->b, zero, sizeof(zero));
	end(m, S_PROBES);
}

int
image_make(const struct probes *probes, struct image *out)
{
	struct maker m = { .probes = probes, .b = &out->bytes };

	*out = (struct image){ 0 };
	if (PROBE_ELF == EM_NONE)
		return -ENOSYS;
	for (int pass = 0; pass < 2; pass++) {
		readable(&m);
		code(&m);
		writable(&m);
		m.text = m.sections[S_TEXT].sh_offset;
		m.semaphores = m.sections[S_PROBES].sh_offset;
	}
	section_table(&m);
	headers(&m);
	out->text = m.text;
	out->semaphores = m.semaphores;
	if (!out->bytes.failed)
		return 0;
	image_fini(out);
	return -ENOMEM;
}

void
image_fini(struct image *image)
{
	bytes_fini(&image->bytes);
}
