/*
 * Objects in Ruby's heap; see ruby_impl.h.
 *
 * Facts are those of Ruby's headers: include/ruby/internal/core/ (RBasic,
 * RString, RArray), internal/imemo.h, symbol.h, vm_core.h and iseq.h; of the
 * succinct table of positions, iseq.c.
 */

#include "dlang/base/base.h"
#include "symbols/lang/ruby_impl.h"

/* RBasic.flags. */
#define TYPE_MASK     0x1f
#define IMEMO_SHIFT   12 /* FL_USHIFT: the kind of an imemo, 4 bits */
#define IMEMO_MASK    (0xfu << IMEMO_SHIFT)
#define STRING_HEAP   (1u << 13) /* FL_USER1: the text is elsewhere */
#define ARRAY_EMBED   (1u << 13) /* FL_USER1: the elements are here */
#define STRING_LEN(f) ((f) >> 14 & 0x1f)

/* Behind RBasic, which is flags and a class. */
#define BODY      16
#define BODY_PTR  24 /* RString.as.heap.ptr; a short one's text from 3.2 on */
#define ARRAY_PTR 32 /* RArray.as.heap.ptr */

unsigned
ruby_type(struct lang_walk *w, uint64_t object)
{
	uint64_t flags;

	/* Small numbers, symbols and so on are not addresses. */
	if (object == 0 || object % 8 != 0)
		return 0;
	flags = lang_u64(w, object);
	if ((flags & TYPE_MASK) == RUBY_IMEMO)
		return (unsigned)(flags & (TYPE_MASK | IMEMO_MASK));
	return (unsigned)(flags & TYPE_MASK);
}

char *
ruby_text(const struct ruby_layout *o, struct lang_walk *w, uint64_t str,
    char *buf, size_t size)
{
	uint64_t flags, len, at;

	buf[0] = '\0';
	if (ruby_type(w, str) != RUBY_STRING)
		return buf;
	flags = lang_u64(w, str);
	len = lang_u64(w, str + BODY);
	at = lang_u64(w, str + BODY_PTR);
	if (!(flags & STRING_HEAP)) {
		if (!o->long_strings)
			len = STRING_LEN(flags);
		at = str + (o->long_strings ? BODY_PTR : BODY);
	}
	return lang_text(w, at, len, buf, size);
}

uint64_t
ruby_element(struct lang_walk *w, uint64_t array, uint64_t n)
{
	if (ruby_type(w, array) != RUBY_ARRAY)
		return 0;
	if (lang_u64(w, array) & ARRAY_EMBED)
		/* An embedded array is in one slot of the heap. */
		return n < 80 ? lang_u64(w, array + BODY + n * 8) : 0;
	if (n >= lang_u64(w, array + BODY))
		return 0;
	return lang_u64(w, lang_u64(w, array + ARRAY_PTR) + n * 8);
}

/*
 * rb_symbols_t: the last serial number, a table, and `ids', an Array of Arrays
 * of ID_ENTRY_UNIT pairs of a String and a Symbol, by serial number.
 */
#define SYMBOLS_IDS    16
#define ID_ENTRY_UNIT  512
#define ID_SCOPE_SHIFT 4
#define ID_STATIC      1u
#define SERIAL_MOST    (1u << 28)
#define RSYMBOL_FSTR   24

bool
ruby_is_symbols(struct lang_walk *w, uint64_t symbols)
{
	uint32_t last = lang_u32(w, symbols);
	uint64_t ids = lang_u64(w, symbols + SYMBOLS_IDS);

	return last > ID_ENTRY_UNIT && last < SERIAL_MOST &&
	    ruby_type(w, ids) == RUBY_ARRAY &&
	    ruby_type(w, ruby_element(w, ids, last / ID_ENTRY_UNIT)) ==
	    RUBY_ARRAY;
}

char *
ruby_id_text(const struct ruby_layout *o, struct lang_walk *w, uint64_t symbols,
    uint64_t id, char *buf, size_t size)
{
	uint64_t serial = id > o->last_op_id ? id >> ID_SCOPE_SHIFT : id, ids;

	/* A symbol created at run time is its own id. */
	if (id > o->last_op_id && !(id & ID_STATIC))
		return ruby_text(
		    o, w, lang_u64(w, id + RSYMBOL_FSTR), buf, size);
	ids = symbols != 0 ? lang_u64(w, symbols + SYMBOLS_IDS) : 0;
	return ruby_text(o, w,
	    ruby_element(w, ruby_element(w, ids, serial / ID_ENTRY_UNIT),
		serial % ID_ENTRY_UNIT * 2),
	    buf, size);
}

/* ---- lines ---- */

/* rb_iseq_constant_body, and its insns_info. */
#define BODY_SIZE      4 /* in words */
#define BODY_CODE      8
#define INFO_BODY      0
#define INFO_POSITIONS 8
#define INFO_SIZE      16
#define INFO_SUCC      24

/*
 * struct succ_index_table, which replaces an array of the positions at which
 * entries begin.  It tells how many entries begin at or before a position:
 *
 *	imm_part[6]	positions below 54: seven bits for each, nine a word
 *	succ_part[]	then blocks of 512: the number before the block; the
 *			numbers in its first words, nine bits each; a bit for
 *			each position at which an entry begins
 */
#define SUCC_NEAR        54
#define SUCC_NEAR_WORD   9
#define SUCC_NEAR_BITS   7
#define SUCC_BLOCK_FIRST 48
#define SUCC_BLOCK_SIZE  80
#define SUCC_BLOCK       512
#define SUCC_RANKS       8
#define SUCC_RANK_BITS   9
#define SUCC_WORDS       16

static uint64_t
succ_find(struct lang_walk *w, uint64_t table, uint64_t pos)
{
	uint64_t block, ranks, bits, n;

	if (pos < SUCC_NEAR)
		return lang_u64(w, table + pos / SUCC_NEAR_WORD * 8) >>
		    pos % SUCC_NEAR_WORD * SUCC_NEAR_BITS &
		    0x7f;
	pos -= SUCC_NEAR;
	block = table + SUCC_BLOCK_FIRST + pos / SUCC_BLOCK * SUCC_BLOCK_SIZE;
	pos %= SUCC_BLOCK;
	n = lang_u32(w, block);
	ranks = lang_u64(w, block + SUCC_RANKS);
	if (pos >= 64)
		n += ranks >> (pos / 64 - 1) * SUCC_RANK_BITS & 0x1ff;
	bits = lang_u64(w, block + SUCC_WORDS + pos / 64 * 8);
	return n + (unsigned)__builtin_popcountll(bits << (63 - pos % 64));
}

/* The number of sorted positions that are not after pos. */
static uint64_t
positions_find(struct lang_walk *w, uint64_t at, uint64_t n, uint64_t pos)
{
	uint64_t lo = 0, hi = n;

	while (lo < hi) {
		uint64_t mid = lo + (hi - lo) / 2;
		if (lang_u32(w, at + mid * 4) <= pos)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

int
ruby_line(const struct ruby_layout *o, struct lang_walk *w, uint64_t body,
    uint64_t pc)
{
	uint64_t info = body + o->insns_info;
	uint64_t pos = (pc - lang_u64(w, body + BODY_CODE)) / 8;
	uint64_t entries = lang_u64(w, info + INFO_BODY);
	uint64_t at = lang_u64(w, info + INFO_POSITIONS), n = 1;
	uint32_t size = lang_u32(w, info + INFO_SIZE);

	if (size == 0 || pos > lang_u32(w, body + BODY_SIZE))
		return 0;
	/* The pc is already after the running instruction. */
	if (pos != 0)
		pos--;
	if (size > 1)
		n = at != 0 ? positions_find(w, at, size, pos) :
			      succ_find(w, lang_u64(w, info + INFO_SUCC), pos);
	if (n == 0 || n > size)
		return 0;
	return MAX(0, (int)lang_u32(w, entries + (n - 1) * o->insn_entry));
}
