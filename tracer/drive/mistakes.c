/*
 * See mistakes.h.
 */
#include "tracer/drive/mistakes.h"

#include <ctype.h>
#include <elf.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "dlang/base/machine.h"
#include "dlang/base/mem.h"
#include "dlang/base/nearest.h"
#include "dlang/base/str.h"
#include "dlang/cc/cc.h"
#include "dlang/dif.h"
#include "dlang/options.h"
#include "dlang/prog.h"
#include "tracer/base/probe.h"
#include "tracer/base/provider.h"
#include "tracer/base/state.h"
#include "tracer/drive/targets.h"
#include "tracer/ptrace/proc.h"

/* ---- operands ---- */

static bool
is_plain(const char *word)
{
	static const char others[] = "-_./=:,+@%";

	if (*word == '\0')
		return false;
	for (const char *p = word; *p != '\0'; p++)
		if (!isalnum((unsigned char)*p) && strchr(others, *p) == NULL)
			return false;
	return true;
}

static void
add_words(struct str *to, char *const *argv)
{
	for (; *argv != NULL; argv++) {
		bool plain = is_plain(*argv);

		str_add(to, plain ? " " : " \"");
		for (const char *p = *argv; *p != '\0'; p++) {
			if (*p == '\'') {
				str_add(to, "'\\''");
				continue;
			}
			if (strchr("\"\\$`", *p) != NULL)
				str_addc(to, '\\');
			str_addc(to, *p);
		}
		str_add(to, plain ? "" : "\"");
	}
}

static bool
is_number(const char *word)
{
	return *word != '\0' && strspn(word, "0123456789") == strlen(word);
}

static bool
is_script(const char *path)
{
	const char *dot = strrchr(path, '.');
	struct stat st;

	return dot != NULL && strcmp(dot, ".d") == 0 && stat(path, &st) == 0 &&
	    S_ISREG(st.st_mode);
}

char *
mistakes_script(const char *text)
{
	return is_script(text) ? mem_printf("-s %s runs that script", text) :
				 NULL;
}

char *
mistakes_operands(const char *command, char *const *argv)
{
	struct str words = { 0 };

	if (argv[0] == NULL)
		return NULL;
	if (argv[0][0] == '{' ||
	    (argv[0][0] == '/' && strpbrk(argv[0], "{ ") != NULL))
		return mem_strdup(
		    "quote the probe, its predicate and its action together "
		    "as one argument");
	if (command != NULL && strchr(command, '\'') == NULL) {
		add_words(&words, argv);
		char *text = mem_printf("quote the command as one argument: "
					"-c '%s%s'",
		    command, str_c(&words));
		str_fini(&words);
		return text;
	}
	if (is_number(argv[0]))
		return mem_printf("-p %s traces that process", argv[0]);
	if (is_script(argv[0]))
		return mistakes_script(argv[0]);
	char *path = targets_find_program(argv[0]);
	if (path == NULL)
		return NULL;
	mem_free(path);
	add_words(&words, argv);
	char *text =
	    mem_printf("-c '%s' traces that command", str_c(&words) + 1);
	str_fini(&words);
	return text;
}

char *
mistakes_pid(const char *arg)
{
	bool name = isalpha((unsigned char)*arg) &&
	    arg[strcspn(arg, " \t\n'\"\\$`|&;<>()*?[]")] == '\0';

	return name ?
	    mem_printf("-p takes a process ID: -p $(pgrep -n %s)", arg) :
	    mem_strdup("-p takes a process ID");
}

char *
mistakes_listed(const char *arg)
{
	if (is_number(arg))
		return mem_printf(
		    "-l -p %s lists the probes of that process", arg);
	if (strchr(arg, ':') != NULL)
		return mem_printf("-l -n '%s' lists the probes", arg);
	return mem_printf("-l -P %s lists the probes of a provider, -l -f %s "
			  "those of a function",
	    arg, arg);
}

/* ---- options ---- */

/* Names that other programs use for options that are letters here. */
static const struct word {
	const char *name, *option;
} words[] = {
	{ "help", "--help" },
	{ "version", "--version" },
	{ "command", "-c" },
	{ "compile", "-e" },
	{ "define", "-D" },
	{ "destructive", "-w" },
	{ "function", "-f" },
	{ "include", "-I" },
	{ "library", "-L" },
	{ "list", "-l" },
	{ "module", "-m" },
	{ "name", "-n" },
	{ "output", "-o" },
	{ "pid", "-p" },
	{ "provider", "-P" },
	{ "script", "-s" },
	{ "verbose", "-v" },
};

static const char *
word_option(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(words); i++)
		if (strcmp(words[i].name, name) == 0)
			return words[i].option;
	return NULL;
}

char *
mistakes_long_option(const char *arg)
{
	char *name = mem_strndup(arg + 2, strcspn(arg + 2, "="));
	struct nearest near;
	char *text = NULL;

	nearest_init(&near, name);
	for (size_t i = 0; i < ARRAY_SIZE(words); i++)
		nearest_offer(&near, words[i].name);
	for (int i = 0; i < OPT_COUNT; i++)
		nearest_offer(&near, option_name((enum option_id)i));
	if (nearest_found(&near)) {
		const char *option = word_option(near.name[0]);
		text = mem_printf("did you mean %s%s?",
		    option != NULL ? option : "-x ",
		    option != NULL ? "" : near.name[0]);
	}
	nearest_fini(&near);
	mem_free(name);
	return text;
}

char *
mistakes_letter(int letter, const char *letters)
{
	int other = isupper(letter) ? tolower(letter) : toupper(letter);

	if (!isalpha(letter) || strchr(letters, other) == NULL)
		return NULL;
	return mem_printf("did you mean -%c?", other);
}

/* ---- commands ---- */

static bool
is_for_shell(const char *command)
{
	static const char *const builtins[] = { "cd", "exec", "export",
		"source", ".", "ulimit", "umask", "set", "unset", "alias",
		"eval", "for", "if", "while", NULL };
	size_t first = strcspn(command, " \t\n");

	if (strpbrk(command, "|&;<>$`*") != NULL ||
	    memchr(command, '=', first) != NULL)
		return true;
	for (size_t i = 0; builtins[i] != NULL; i++)
		if (strlen(builtins[i]) == first &&
		    strncmp(command, builtins[i], first) == 0)
			return true;
	return false;
}

/* Is this a word of the shell (`|', `>file', `&&')? It ends at a blank or the
 * end. */
static bool
is_shell_word(const char *word, size_t n)
{
	return n > 0 && word[strspn(word, "0123456789")] != '\0' &&
	    strchr("|&;<>", word[strspn(word, "0123456789")]) != NULL;
}

char *
mistakes_shell(const char *command)
{
	char quote = '\0';

	for (const char *p = command; *p != '\0'; p++) {
		if (*p == '\\' && p[1] != '\0')
			p++;
		else if (quote != '\0')
			quote = *p == quote ? '\0' : quote;
		else if (*p == '\'' || *p == '"')
			quote = *p;
		else if (*p == ' ' && is_shell_word(p + 1, strcspn(p + 1, " ")))
			return mem_printf(
			    "-c does not start a shell, so '%.*s' is an "
			    "argument of the command; -c 'sh -c \"...\"' "
			    "starts one",
			    (int)strcspn(p + 1, " "), p + 1);
	}
	return NULL;
}

/* The interpreter in the first line of a script, read as the kernel reads it;
 * "" if there is none. */
static void
read_interpreter(const char *path, char *line, size_t size)
{
	FILE *f = fopen(path, "re");
	size_t n = f != NULL ? fread(line, 1, size - 1, f) : 0;

	if (f != NULL)
		fclose(f);
	line[n] = '\0';
	line[strcspn(line, "\n")] = '\0';
	if (strncmp(line, "#!", 2) != 0) {
		line[0] = '\0';
		return;
	}
	char *name = line + 2 + strspn(line + 2, " \t");
	name[strcspn(name, " \t")] = '\0';
	memmove(line, name, strlen(name) + 1);
}

/* Is there a program of that name in the current directory? */
static bool
is_here(const char *name)
{
	struct stat st;

	return stat(name, &st) == 0 && S_ISREG(st.st_mode) &&
	    access(name, X_OK) == 0;
}

static char *
not_found(const char *name)
{
	char line[256];

	if (strchr(name, '/') == NULL)
		return mem_printf("%s was not found in PATH%s%s%s", name,
		    is_here(name) ? "; did you mean ./" : "",
		    is_here(name) ? name : "", is_here(name) ? "?" : "");
	if (access(name, F_OK) != 0)
		return NULL;
	read_interpreter(name, line, sizeof(line));
	if (line[0] == '\0')
		return mem_strdup("the file exists, but the run-time linker "
				  "that it names does not (readelf -l shows "
				  "it)");
	size_t n = strlen(line);
	bool dos = n > 0 && line[n - 1] == '\r';
	return mem_printf(
	    "the file exists, but the interpreter in its first line, %.*s, "
	    "does not%s",
	    (int)(n - dos), line,
	    dos ? " (the line ends with a carriage return)" : "");
}

static char *
foreign(const char *name)
{
	char *path = targets_find_program(name);
	char *why = path != NULL ? mistakes_machine(path) : NULL;

	mem_free(path);
	return why;
}

char *
mistakes_command(const char *command, char *const *argv, int error)
{
	struct stat st;

	if ((error == -ENOENT || error == -EACCES) && is_for_shell(command))
		return mem_strdup("-c does not start a shell; -c 'sh -c "
				  "\"...\"' does");
	if (error == -ENOENT)
		return not_found(argv[0]);
	if (error == -ENOEXEC)
		return foreign(argv[0]);
	if (error != -EACCES || stat(argv[0], &st) != 0)
		return NULL;
	if (S_ISDIR(st.st_mode))
		return mem_strdup("it is a directory");
	if ((st.st_mode & 0111) == 0)
		return mem_printf("it is not executable: chmod +x %s", argv[0]);
	return NULL;
}

char *
mistakes_machine(const char *path)
{
	static const struct {
		unsigned machine;
		const char *name;
	} names[] = {
		{ EM_ARM, "ARM" },
		{ EM_AARCH64, "AArch64" },
		{ EM_PPC64, "PowerPC" },
		{ EM_RISCV, "RISC-V" },
		{ EM_S390, "S/390" },
	};
	const char *name = "another machine";
	Elf64_Ehdr h = { 0 };
	FILE *f = fopen(path, "re");

	if (f == NULL)
		return NULL;
	size_t n = fread(&h, 1, sizeof(h), f);
	fclose(f);
	/* 32-bit and 64-bit headers have e_machine at the same offset. */
	if (n < sizeof(Elf32_Ehdr) || memcmp(h.e_ident, ELFMAG, SELFMAG) != 0 ||
	    h.e_ident[EI_DATA] != ELFDATA2LSB || h.e_machine == MACHINE_ELF ||
	    h.e_machine == MACHINE_ELF_32)
		return NULL;
	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (names[i].machine == h.e_machine)
			name = names[i].name;
	return mem_printf(
	    "it is a program for %s, and this is " MACHINE_NAME, name);
}

/* ---- destructive actions ---- */

/* The name of a destructive action; NULL if it is not destructive. */
static const char *
destructive_name(enum dif_act kind)
{
	switch (kind) {
#define DIF_ACT(n, NAME, name, proto, flags) \
	case ACT_##NAME:                     \
		return ((flags)&A_DESTRUCTIVE) != 0 ? name : NULL;
#include "dlang/dif_acts.def"
#undef DIF_ACT
	default: return NULL;
	}
}

static void
add_once(struct str *to, const char *name)
{
	char *call = mem_printf("%s()", name);

	if (strstr(str_c(to), call) == NULL)
		str_printf(to, "%s%s", to->len > 0 ? ", " : "", call);
	mem_free(call);
}

char *
mistakes_destructive(const struct prog *p)
{
	struct str names = { 0 };

	for (size_t i = 0; i < p->nclauses; i++) {
		const struct prog_clause *c = p->clauses[i];
		for (size_t k = 0; k < c->nstmts; k++) {
			const char *name = destructive_name(c->stmts[k].kind);
			if (name != NULL)
				add_once(&names, name);
		}
	}
	if (!p->destructive)
		return NULL;
	/* copyout() and copyoutstr() are subroutines, not actions. */
	char *text = mem_printf("-w allows %s",
	    names.len > 0 ? str_c(&names) : "copyout() and copyoutstr()");
	str_fini(&names);
	return text;
}

/* ---- no process ---- */

/* Users of DTrace expect that the whole system is traced if no process is
 * named: say why nothing is printed. (Without a process, profile samples a
 * processor of its own.) */
char *
mistakes_untraced(struct state *st)
{
	if (st->named.any || super_next(st->super, NULL) != NULL)
		return NULL;
	vec_foreach(p, &st->probes.list) {
		const struct provider *prov = (*p)->provider;
		if ((*p)->image_ref != 0 && prov->follows &&
		    prov != &prov_profile)
			return mem_printf(
			    "no process is traced: %s probes fire only in "
			    "processes given with -p or -c",
			    prov->name);
	}
	return NULL;
}

/* Clauses that run where streams are merged need a variable of the hosts. */
char *
mistakes_merged(const struct state *st)
{
	const struct prog_clause *clause;
	const char *name =
	    where_bad_variable(cc_globals(st->compiled.cc), &clause);

	if (name == NULL)
		return NULL;
	char *desc = probe_desc_text(&clause->desc, false);
	char *text = mem_printf(
	    "%s runs where the hosts are merged, and reads the global variable "
	    "%s, which each host has for itself; an aggregation is what is added "
	    "up over the hosts",
	    desc + strspn(desc, ":"), name);
	mem_free(desc);
	return text;
}
