/*
 * DOF, the format in which DTrace stores programs and providers in files, as
 * far as declarations of static probes need it: little-endian, for 64-bit
 * programs.  A section table behind the header lists the sections.
 *
 * `dtrap -G' writes one provider section for each provider, which refers to the
 * sections of its probes and of the map from args[] to native arguments.  It
 * does not contain the addresses of probes, which are in the notes (sdt.h).
 */
#ifndef SYMBOLS_DOF_H
#define SYMBOLS_DOF_H

#include <assert.h>
#include <stdint.h>

#define DOF_SECTION ".SUNW_dof" /* in an ELF file */

struct dof_header {
	uint8_t magic[4]; /* 7f 'D' 'O' 'F' */
	uint8_t model;    /* DOF_LP64 */
	uint8_t encoding; /* DOF_LITTLE */
	uint8_t version;  /* DOF_VERSION */
	uint8_t dif_version;
	uint8_t int_regs, tuple_regs;
	uint8_t pad[6];
	uint32_t flags;
	uint32_t header_size;
	uint32_t entry_size; /* of the section table */
	uint32_t count;
	uint64_t table; /* offset */
	uint64_t load_size;
	uint64_t file_size;
	uint64_t pad2;
};

#define DOF_ILP32   1
#define DOF_LP64    2
#define DOF_LITTLE  1
#define DOF_VERSION 2

enum dof_kind {
	DOF_COMMENTS = 1,
	DOF_STRINGS = 8,
	DOF_PROVIDER = 15,
	DOF_PROBES = 16,
	DOF_MAP = 17,
};

struct dof_section {
	uint32_t kind;
	uint32_t align;
	uint32_t flags; /* DOF_LOAD: more than a comment */
	uint32_t entry_size;
	uint64_t offset;
	uint64_t size;
};

#define DOF_LOAD    1
#define DOF_NOTHING UINT32_MAX /* no section */

/* Strings are offsets in the provider's string section. */
struct dof_provider {
	uint32_t strings, probes, map, places; /* sections */
	uint32_t name;
	uint32_t attrs[5];
	uint32_t enabled_places; /* section */
};

struct dof_probe {
	uint64_t addr;
	uint32_t function, name;
	uint32_t args, xargs; /* the first of so many strings in a row */
	uint32_t map;         /* index in the map section */
	uint32_t place;
	uint8_t nargs, nxargs;
	uint16_t nplaces;
	uint32_t enabled_place;
	uint16_t nenabled;
	uint16_t pad;
	uint32_t pad2;
};

static_assert(sizeof(struct dof_header) == 64, "format");
static_assert(sizeof(struct dof_section) == 32, "format");
static_assert(sizeof(struct dof_provider) == 44, "format");
static_assert(sizeof(struct dof_probe) == 48, "format");

#endif
