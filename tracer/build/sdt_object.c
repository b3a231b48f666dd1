/*
 * `dtrap -G'; see sdt_build.h, and symbols/dof.h for what is written.
 */
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "dlang/base/machine.h"
#include "dlang/base/str.h"
#include "dlang/types.h"
#include "symbols/dof.h"
#include "tracer/ptrace/event.h"
#include "tracer/build/sdt_build.h"
#include "tracer/base/state.h"

/* ---- the objects of the program ---- */

static int
refuse(struct state *st, const char *what, const char *path, const char *why)
{
	state_message(st, "%s: %s: %s", what, why, path);
	return -ENOEXEC;
}

static enum sdt_model
model_of(const unsigned char *ident)
{
	return ident[EI_CLASS] == ELFCLASS64 ? SDT_LP64 : SDT_ILP32;
}

static int
check_object(
    struct state *st, const char *what, const char *path, enum sdt_model *model)
{
	/* Where type and machine stand, both classes agree. */
	Elf32_Ehdr h = { 0 };
	FILE *f = fopen(path, "re");

	if (f == NULL) {
		int error = -errno;
		state_message(st, "%s: failed to open %s: %s", what, path,
		    strerror(-error));
		return error;
	}
	size_t n = fread(&h, 1, sizeof(h), f);
	fclose(f);
	if (n >= 8 && memcmp(h.e_ident, "!<arch>\n", 8) == 0)
		return refuse(st, what, path,
		    "archives are not permitted; use the contents of the "
		    "archive instead");
	if (n < sizeof(h) || memcmp(h.e_ident, ELFMAG, SELFMAG) != 0)
		return refuse(st, what, path, "not an ELF file");
	if (h.e_type != ET_REL)
		return refuse(st, what, path, "not a relocatable object");
	if (*model == SDT_ANY_MODEL)
		*model = model_of(h.e_ident);
	if (*model != model_of(h.e_ident))
		return refuse(
		    st, what, path, "incorrect ELF class for object file");
	if (h.e_machine != (*model == SDT_LP64 ? MACHINE_ELF : MACHINE_ELF_32))
		return refuse(st, what, path,
		    "incorrect ELF machine type for object file");
	return 0;
}

int
sdt_check_objects(struct state *st, const char *what, char *const *paths,
    size_t count, enum sdt_model *model)
{
	for (size_t i = 0; i < count; i++) {
		int error = check_object(st, what, paths[i], model);
		if (error != 0)
			return error;
	}
	return 0;
}

/* ---- DOF ---- */

struct dof_builder {
	struct str strings;
	VEC(struct dof_section) sections;
	VEC(struct str) contents; /* of each section */
};

/* A new section, whose contents are taken. */
static uint32_t
add_section(struct dof_builder *b, enum dof_kind kind, uint32_t entry_size,
    uint32_t flags, struct str *contents)
{
	*vec_push(&b->sections) = (struct dof_section){
		.kind = kind,
		.align = 8,
		.flags = flags,
		.entry_size = entry_size,
	};
	*vec_push(&b->contents) = *contents;
	*contents = (struct str){ 0 };
	return (uint32_t)b->sections.len - 1;
}

static uint32_t
add_string(struct dof_builder *b, const char *s)
{
	uint32_t at = (uint32_t)b->strings.len;

	str_addn(&b->strings, s, strlen(s) + 1);
	return at;
}

/* As D has names: `-' for `__'. */
static uint32_t
add_name(struct dof_builder *b, const char *s)
{
	uint32_t at = (uint32_t)b->strings.len;

	for (; *s != '\0'; s++) {
		bool two = s[0] == '_' && s[1] == '_';
		str_addc(&b->strings, two ? '-' : *s);
		s += two;
	}
	str_addn(&b->strings, "", 1);
	return at;
}

static uint32_t
add_types(struct dof_builder *b, const struct prog_params *p)
{
	uint32_t at = (uint32_t)b->strings.len;
	char buf[256];

	for (size_t i = 0; i < p->count; i++)
		add_string(b, type_name(p->types[i], buf, sizeof(buf)));
	return at;
}

static void
add_provider(struct dof_builder *b, const struct prog_provider *p)
{
	struct str probes = { 0 }, map = { 0 }, prov = { 0 };
	struct dof_provider dp = {
		.strings = 0, /* the first section */
		.places = DOF_NOTHING,
		.enabled_places = DOF_NOTHING,
		.name = add_name(b, p->name),
	};

	for (size_t i = 0; i < p->nprobes; i++) {
		const struct prog_sdt_probe *pr = &p->probes[i];
		struct dof_probe d = {
			.name = add_name(b, pr->name),
			.nargs = (uint8_t)pr->args.count,
			.nxargs = (uint8_t)pr->xargs.count,
			.map = (uint32_t)map.len,
		};
		d.args = add_types(b, &pr->args);
		d.xargs = add_types(b, &pr->xargs);
		str_addn(&map, (const char *)pr->map, pr->xargs.count);
		str_addn(&probes, (const char *)&d, sizeof(d));
	}
	dp.probes = add_section(
	    b, DOF_PROBES, sizeof(struct dof_probe), DOF_LOAD, &probes);
	dp.map = add_section(b, DOF_MAP, 1, DOF_LOAD, &map);
	str_addn(&prov, (const char *)&dp, sizeof(dp));
	add_section(b, DOF_PROVIDER, 0, DOF_LOAD, &prov);
}

static void
pad(struct str *s, size_t to)
{
	while (s->len % to != 0)
		str_addn(s, "", 1);
}

/* Header, section table, contents. */
static void
put_together(struct dof_builder *b, enum sdt_model model, struct str *out)
{
	struct dof_header h = {
		.magic = { 0x7f, 'D', 'O', 'F' },
		.model = model == SDT_ILP32 ? DOF_ILP32 : DOF_LP64,
		.encoding = DOF_LITTLE,
		.version = DOF_VERSION,
		.dif_version = 2,
		.int_regs = 8,
		.tuple_regs = 8,
		.header_size = sizeof(h),
		.entry_size = sizeof(struct dof_section),
		.count = (uint32_t)b->sections.len,
		.table = sizeof(h),
	};
	uint64_t at = sizeof(h) + b->sections.len * sizeof(struct dof_section);

	for (size_t i = 0; i < b->sections.len; i++) {
		b->sections.at[i].offset = at;
		b->sections.at[i].size = b->contents.at[i].len;
		at = ROUND_UP(at + b->contents.at[i].len, 8);
	}
	h.load_size = h.file_size = at;
	str_addn(out, (const char *)&h, sizeof(h));
	vec_foreach(s, &b->sections)
		str_addn(out, (const char *)s, sizeof(*s));
	vec_foreach(c, &b->contents) {
		str_addn(out, str_c(c), c->len);
		pad(out, 8);
		str_fini(c);
	}
}

static void
dof_text(struct state *st, struct sdt_providers provs, enum sdt_model model,
    struct str *out)
{
	struct dof_builder b = { 0 };
	struct str none = { 0 };

	add_section(&b, DOF_STRINGS, 0, DOF_LOAD, &none);
	str_addn(&b.strings, "", 1);
	for (size_t i = 0; i < provs.count; i++)
		add_provider(&b, provs.at[i]);
	if (option_get(&st->opts, OPT_STRIP) == 0) {
		struct str note = { 0 };
		str_printf(
		    &note, "dtrap: D %d.%d", OPTIONS_D_MAJOR, OPTIONS_D_MINOR);
		str_addn(&note, "", 1);
		add_section(&b, DOF_COMMENTS, 0, 0, &note);
	}
	b.contents.at[0] = b.strings;
	put_together(&b, model, out);
	vec_fini(&b.sections);
	vec_fini(&b.contents);
}

/* ---- the object around it ---- */

/* The linker's --gc-sections is to leave it alone. */
#ifndef SHF_GNU_RETAIN
#define SHF_GNU_RETAIN (1U << 21)
#endif

static const char section_names[] =
    "\0" DOF_SECTION "\0.note.GNU-stack\0.shstrtab";

enum { S_NULL, S_DOF, S_STACK, S_NAMES, S_COUNT };

/* In the fields that both classes have. */
#define ELF_OBJECT(BITS)                                                       \
	static void elf_object_##BITS(                                         \
	    struct str *out, const struct str *dof, unsigned machine)          \
	{                                                                      \
		Elf##BITS##_Ehdr h = { .e_type = ET_REL,                       \
			.e_machine = (Elf##BITS##_Half)machine,                \
			.e_version = EV_CURRENT,                               \
			.e_ehsize = sizeof(h),                                 \
			.e_shentsize = sizeof(Elf##BITS##_Shdr),               \
			.e_shnum = S_COUNT,                                    \
			.e_shstrndx = S_NAMES };                               \
		Elf##BITS##_Shdr s[S_COUNT] = {                                \
			[S_DOF] = { .sh_type = SHT_PROGBITS,                   \
			    .sh_flags = SHF_GNU_RETAIN,                        \
			    .sh_addralign = 8 },                               \
			[S_STACK] = { .sh_type = SHT_PROGBITS,                 \
			    .sh_addralign = 1 },                               \
			[S_NAMES] = { .sh_type = SHT_STRTAB,                   \
			    .sh_addralign = 1 }                                \
		};                                                             \
		const char *name = section_names + 1;                          \
                                                                               \
		memcpy(h.e_ident, ELFMAG, SELFMAG);                            \
		h.e_ident[EI_CLASS] = ELFCLASS##BITS;                          \
		h.e_ident[EI_DATA] = ELFDATA2LSB;                              \
		h.e_ident[EI_VERSION] = EV_CURRENT;                            \
		h.e_ident[EI_OSABI] = ELFOSABI_GNU;                            \
		for (int i = S_DOF; i < S_COUNT; i++) {                        \
			s[i].sh_name =                                         \
			    (Elf##BITS##_Word)(name - section_names);          \
			name += strlen(name) + 1;                              \
		}                                                              \
		s[S_DOF].sh_offset = ROUND_UP(sizeof(h), 8);                   \
		s[S_DOF].sh_size = (Elf##BITS##_Word)dof->len;                 \
		s[S_STACK].sh_offset = s[S_DOF].sh_offset + s[S_DOF].sh_size;  \
		s[S_NAMES].sh_offset = s[S_STACK].sh_offset;                   \
		s[S_NAMES].sh_size = sizeof(section_names);                    \
		h.e_shoff =                                                    \
		    ROUND_UP(s[S_NAMES].sh_offset + sizeof(section_names), 8); \
		str_addn(out, (const char *)&h, sizeof(h));                    \
		pad(out, 8);                                                   \
		str_addn(out, str_c(dof), dof->len);                           \
		str_addn(out, section_names, sizeof(section_names));           \
		pad(out, 8);                                                   \
		str_addn(out, (const char *)s, sizeof(s));                     \
	}
ELF_OBJECT(32)
ELF_OBJECT(64)

/* ---- files ---- */

static int
write_file(struct state *st, const char *what, const char *path,
    const struct str *bytes)
{
	FILE *f = fopen(path, "we");
	bool bad =
	    f == NULL || fwrite(str_c(bytes), 1, bytes->len, f) != bytes->len;
	int error = errno;

	if (f != NULL && fclose(f) != 0) {
		bad = true;
		error = errno;
	}
	if (!bad)
		return 0;
	state_message(
	    st, "%s: failed to write %s: %s", what, path, strerror(error));
	return -error;
}

/* Through the linker that option ldpath names: LD -r -o path raw. */
static int
run_linker(
    struct state *st, const char *what, const char *path, const char *raw)
{
	const char *ld = st->opts.text[OPT_LDPATH];
	char *argv[] = { (char *)ld, (char *)"-r", (char *)"-o", (char *)path,
		(char *)raw, NULL };
	pid_t pid;

	int error = posix_spawnp(&pid, ld, NULL, NULL, argv, environ);
	if (error != 0)
		state_message(st, "%s: %s", ld, strerror(error));
	/* As a shell would have it. */
	int status = error != 0 ? 127 << 8 : event_await_plain(st->super, pid);
	if (status == 0)
		return 0;
	const char *slash = strrchr(path, '/');
	state_message(st, "%s: failed to link %s: %s %s %d", what,
	    slash != NULL ? slash + 1 : path, ld,
	    WIFEXITED(status) ? "exited with status" : "died of signal",
	    WIFEXITED(status) ? WEXITSTATUS(status) : WTERMSIG(status));
	return -EIO;
}

static int
write_linked(struct state *st, const char *what, const char *path,
    const struct str *bytes)
{
	char *raw = mem_printf("%s.tmp%d", path, getpid());
	int error = write_file(st, what, raw, bytes);

	if (error == 0)
		error = run_linker(st, what, path, raw);
	unlink(raw);
	mem_free(raw);
	return error;
}

int
sdt_object(struct state *st, const char *what, const char *path,
    struct sdt_providers provs, enum sdt_model model)
{
	const char *type = st->opts.text[OPT_LINKTYPE];
	struct str dof = { 0 }, out = { 0 };
	int error;

	dof_text(st, provs, model, &dof);
	if (type != NULL && strcmp(type, "dof") == 0) {
		error = write_file(st, what, path, &dof);
	} else {
		if (model == SDT_ILP32)
			elf_object_32(&out, &dof, MACHINE_ELF_32);
		else
			elf_object_64(&out, &dof, MACHINE_ELF);
		error = st->opts.text[OPT_LDPATH] != NULL ?
		    write_linked(st, what, path, &out) :
		    write_file(st, what, path, &out);
	}
	str_fini(&dof);
	str_fini(&out);
	return error;
}
