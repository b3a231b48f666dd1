/*
 * The small debug file inside of a load object: the section .gnu_debugdata, an
 * ELF file compressed by xz. Distributions put the symbols of static functions
 * there when they strip the object ("MiniDebugInfo"; GDB's manual describes the
 * format).
 *
 * Invariant: the decompressed size is limited by the compressed size, so that
 * no file makes dtrap use all memory.
 */

#include <lzma.h>

#include "dlang/base/log.h"
#include "dlang/base/mem.h"
#include "symbols/elf/parts.h"

/* Symbols and their names are four to eight times as large when they are
 * decompressed. The largest known ones, of a browser, take less than 128
 * MiB. */
#define RATIO_MOST 100
#define ROOM_LEAST (1ULL << 20)
#define ROOM_MOST  (256ULL << 20)

/* xz needs 65 MiB to decompress the output of xz -9. */
#define MEMORY_MOST (128ULL << 20)

/* Decompress all of it to *out, which the caller frees. Returns the size, or
 * 0. */
static size_t
decompress(const uint8_t *in, size_t size, uint8_t **out)
{
	uint64_t most = MIN(ROOM_MOST, ROOM_LEAST + size * RATIO_MOST);
	size_t room = MIN(ROOM_LEAST, most), done = 0;
	lzma_stream z = LZMA_STREAM_INIT;
	lzma_ret r = lzma_stream_decoder(&z, MEMORY_MOST, 0);

	*out = NULL;
	z.next_in = in;
	z.avail_in = size;
	while (r == LZMA_OK) {
		*out = mem_realloc(*out, room);
		z.next_out = *out + done;
		z.avail_out = room - done;
		r = lzma_code(&z, LZMA_FINISH);
		done = room - z.avail_out;
		if (r == LZMA_OK && room == most)
			break;
		room = MIN(room * 2, most);
	}
	lzma_end(&z);
	return r == LZMA_STREAM_END ? done : 0;
}

static void
mini_fini(void *part)
{
	elf_file_close(part);
}

static void
mini_load(const struct object *o, struct elf_file *out)
{
	Elf64_Shdr sh;
	Elf_Scn *scn = elf_file_section(&o->file, ".gnu_debugdata", &sh);
	Elf_Data *d = scn != NULL ? elf_file_data(scn, &sh) : NULL;
	uint8_t *bytes;
	size_t size;

	if (d == NULL)
		return;
	size = decompress(d->d_buf, d->d_size, &bytes);
	LOG("symbols", "%s: %zu bytes of .gnu_debugdata are %zu", o->path,
	    d->d_size, size);
	if (size == 0)
		mem_free(bytes);
	else if (elf_file_image(bytes, size, out) == 0 &&
	    (bytes[EI_CLASS] != ELFCLASS64 || bytes[EI_DATA] != ELFDATA2LSB))
		elf_file_close(out);
}

const struct elf_file *
debugdata_of(struct object *o)
{
	struct elf_file *f = object_part(o, PART_MINI);

	if (f == NULL) {
		f = object_part_new(o, PART_MINI, sizeof(*f), mini_fini);
		mini_load(o, f);
	}
	return f->elf != NULL ? f : NULL;
}
