/*
 * The readers of the sections of a file, one by one: the file is whole, and
 * what stands in its sections is the input.  (From nothing, a fuzzer never
 * finds a file that is a file; and of one that is, most bytes do not matter.)
 *
 *	flags, then any number of: kind, length (2), that many bytes
 *
 * With flag PACK, what stands in .gnu_debugdata is the input of a file within
 * the file, and is packed as that is: no fuzzer guesses a checksum.
 *
 * Everything is mapped, at its offset, from BASE on:
 *
 *	header, program headers
 *	TEXT		instructions, of which the symbols are
 *	FIXED		symbols and the names of them and of sections
 *	the input's sections, and the table of all of them
 */
#include "t/fuzz/look.h"

#include <elf.h>
#include <lzma.h>

#include "dlang/base/mem.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define BASE      0x400000
#define TEXT      0x200
#define TEXT_SIZE 0x100
#define FIXED     0x300
#define OWN       6 /* sections before those of the input */
#define MOST      16

static const char *const kinds[] = { ".ctf", ".SUNW_dof", ".note.stapsdt",
	".stapsdt.base", ".eh_frame", ".debug_frame", ".gopclntab",
	".gnu_debuglink", ".debug_info", ".debug_abbrev", ".debug_line",
	".debug_str", ".debug_line_str", ".debug_loclists", ".debug_rnglists",
	".debug_addr", ".debug_str_offsets", ".debug_types", ".debug_loc",
	".debug_ranges", ".note.gnu.build-id", ".eh_frame_hdr", ".dynamic",
	".rela.dyn", ".gnu_debugdata", ".symtab", ".strtab" };

/* Flags of the input. */
enum { NO_SYMTAB = 1, DYNSYM = 2, PACK = 4 };

struct file {
	uint8_t *at;
	size_t size, room;
	size_t names, names_size; /* of sections */
	Elf64_Shdr sh[OWN + MOST];
	size_t nsh;
};

/* Bytes at the next multiple of 16; the offset. */
static size_t
append(struct file *f, const void *bytes, size_t n)
{
	size_t at = ROUND_UP(f->size, 16);

	ASSERT(at + n <= f->room);
	if (n != 0)
		memcpy(f->at + at, bytes, n);
	f->size = at + n;
	return at;
}

static Elf64_Shdr *
section(struct file *f, const char *name, uint32_t type, size_t at, size_t size)
{
	Elf64_Shdr *sh = &f->sh[f->nsh++];

	*sh = (Elf64_Shdr){
		.sh_name = (uint32_t)f->names_size,
		.sh_type = type,
		.sh_flags = SHF_ALLOC,
		.sh_addr = BASE + at,
		.sh_offset = at,
		.sh_size = size,
		.sh_addralign = 1,
	};
	memcpy(f->at + f->names + f->names_size, name, strlen(name) + 1);
	f->names_size += strlen(name) + 1;
	return sh;
}

static void
put_symbols(struct file *f, unsigned flags)
{
	static const char names[] = "\0f\0main\0counter\0list";
	const Elf64_Sym syms[] = {
		{ 0 },
		{ 1, ELF64_ST_INFO(STB_GLOBAL, STT_FUNC), 0, 1, BASE + TEXT,
		    64 },
		{ 3, ELF64_ST_INFO(STB_GLOBAL, STT_FUNC), 0, 1,
		    BASE + TEXT + 64, 0 },
		{ 8, ELF64_ST_INFO(STB_GLOBAL, STT_OBJECT), 0, 1,
		    BASE + TEXT + 128, 8 },
		{ 16, ELF64_ST_INFO(STB_GLOBAL, STT_OBJECT), 0, 1,
		    BASE + TEXT + 136, 0 },
	};
	bool dynamic = flags & DYNSYM;
	size_t at = append(f, names, sizeof(names));

	section(
	    f, dynamic ? ".dynstr" : ".strtab", SHT_STRTAB, at, sizeof(names));
	at = append(f, syms, sizeof(syms));
	if (flags & NO_SYMTAB)
		return;
	Elf64_Shdr *sh = section(f, dynamic ? ".dynsym" : ".symtab",
	    dynamic ? SHT_DYNSYM : SHT_SYMTAB, at, sizeof(syms));
	sh->sh_link = (uint32_t)f->nsh - 2;
	sh->sh_info = 1;
	sh->sh_entsize = sizeof(syms[0]);
}

static uint32_t
type_of(const char *name)
{
	return strncmp(name, ".note", 5) == 0 ? SHT_NOTE :
	    strcmp(name, ".dynamic") == 0     ? SHT_DYNAMIC :
	    strcmp(name, ".rela.dyn") == 0    ? SHT_RELA :
	    strcmp(name, ".symtab") == 0      ? SHT_SYMTAB :
	    strcmp(name, ".strtab") == 0      ? SHT_STRTAB :
						SHT_PROGBITS;
}

static void
put_segments(struct file *f, const Elf64_Shdr *hdr, const Elf64_Shdr *dynamic)
{
	Elf64_Ehdr *h = (Elf64_Ehdr *)f->at;
	Elf64_Phdr *p = (Elf64_Phdr *)(h + 1);

	*p++ = (Elf64_Phdr){ PT_LOAD, PF_R | PF_W | PF_X, 0, BASE, BASE,
		f->size, f->size, 4096 };
	if (hdr != NULL)
		*p++ = (Elf64_Phdr){ PT_GNU_EH_FRAME, PF_R, hdr->sh_offset,
			hdr->sh_addr, hdr->sh_addr, hdr->sh_size, hdr->sh_size,
			4 };
	if (dynamic != NULL)
		*p++ = (Elf64_Phdr){ PT_DYNAMIC, PF_R, dynamic->sh_offset,
			dynamic->sh_addr, dynamic->sh_addr, dynamic->sh_size,
			dynamic->sh_size, 8 };
	h->e_phnum = (uint16_t)(p - (Elf64_Phdr *)(h + 1));
}

static void
put_header(struct file *f)
{
	Elf64_Ehdr h = {
		.e_ident = { 0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB,
		    EV_CURRENT },
		.e_type = ET_EXEC,
		.e_machine = EM_X86_64,
		.e_version = EV_CURRENT,
		.e_entry = BASE + TEXT,
		.e_phoff = sizeof(h),
		.e_ehsize = sizeof(h),
		.e_phentsize = sizeof(Elf64_Phdr),
		.e_shentsize = sizeof(Elf64_Shdr),
	};

	memcpy(f->at, &h, sizeof(h));
	memset(f->at + TEXT, 0x90, TEXT_SIZE);
	f->size = FIXED;
	f->names = append(f, "", 1);
	f->names_size = 1;
	f->size = f->names + 512;
	f->nsh = 1;
	section(f, ".text", SHT_PROGBITS, TEXT, TEXT_SIZE)->sh_flags =
	    SHF_ALLOC | SHF_EXECINSTR;
}

static void build(struct file *f, const uint8_t *data, size_t size);

/* The file of this input, compressed.  The size; *out is the caller's. */
static size_t
pack(const uint8_t *data, size_t size, uint8_t **out)
{
	struct file inner = { 0 };
	size_t room, done = 0;

	build(&inner, data, size);
	room = lzma_stream_buffer_bound(inner.size);
	*out = mem_alloc(room);
	if (lzma_easy_buffer_encode(0, LZMA_CHECK_CRC32, NULL, inner.at,
		inner.size, *out, &done, room) != LZMA_OK)
		abort();
	mem_free(inner.at);
	return done;
}

/* Make room for n bytes more than was thought. */
static void
widen(struct file *f, size_t n)
{
	f->at = mem_realloc(f->at, f->room + n);
	memset(f->at + f->room, 0, n);
	f->room += n;
}

/* A section with these bytes. */
static Elf64_Shdr *
put_section(struct file *f, const char *name, const uint8_t *data, size_t n,
    bool packed)
{
	uint8_t *small = NULL;
	size_t at;

	if (packed && n > 0 && strcmp(name, ".gnu_debugdata") == 0) {
		n = pack(data, n, &small);
		widen(f, n);
		data = small;
	}
	at = append(f, data, n);
	mem_free(small);
	return section(f, name, type_of(name), at, n);
}

/* The file of an input. */
static void
build(struct file *f, const uint8_t *data, size_t size)
{
	Elf64_Shdr *hdr = NULL, *dynamic = NULL;
	bool packed = data[0] & PACK;

	f->room = 8192 + size + MOST * 16;
	f->at = mem_zalloc(f->room);
	put_header(f);
	put_symbols(f, data[0]);
	data++, size--;
	for (size_t i = 0; i < MOST && size >= 3; i++) {
		const char *name = kinds[data[0] % ARRAY_SIZE(kinds)];
		size_t n = MIN(data[1] | (size_t)data[2] << 8, size - 3);
		Elf64_Shdr *sh = put_section(f, name, data + 3, n, packed);

		sh->sh_link = sh->sh_type == SHT_RELA ? 3 : 2;
		if (strcmp(name, ".eh_frame_hdr") == 0)
			hdr = sh;
		if (strcmp(name, ".dynamic") == 0)
			dynamic = sh;
		data += 3 + n;
		size -= 3 + n;
	}
	section(f, ".shstrtab", SHT_STRTAB, f->names, 512);
	size_t at = append(f, f->sh, f->nsh * sizeof(f->sh[0]));
	Elf64_Ehdr *h = (Elf64_Ehdr *)f->at;
	h->e_shoff = at;
	h->e_shnum = (uint16_t)f->nsh;
	h->e_shstrndx = (uint16_t)(f->nsh - 1);
	put_segments(f, hdr, dynamic);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct file f = { 0 };
	struct object *o;

	if (size < 1)
		return 0;
	build(&f, data, size);
	if (object_open_image(f.at, f.size, "fuzz", &o) != 0)
		abort();
	look_at_object(o);
	for (uint64_t i = 0; i < TEXT_SIZE; i += 8)
		look_around(o, BASE + TEXT + i);
	object_put(o);
	mem_free(f.at);
	return 0;
}
