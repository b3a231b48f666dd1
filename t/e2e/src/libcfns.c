/*
 * Calls more than 200 functions of libc and says what each gave.  The list of
 * their names is t/e2e/libc-functions.txt; a test puts a probe on every
 * instruction of each and compares what is said with a run without probes.
 * Nothing here depends on time, addresses or the machine.
 */
#include <argz.h>
#include <arpa/inet.h>
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <getopt.h>
#include <inttypes.h>
#include <langinfo.h>
#include <libgen.h>
#include <locale.h>
#include <malloc.h>
#include <regex.h>
#include <search.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <strings.h>
#include <sys/stat.h>
#include <time.h>
#include <ucontext.h>
#include <wchar.h>
#include <wctype.h>
#include <wordexp.h>

#include "trigger.h"

static char a[8192], b[8192];
static wchar_t wa[512], wb[512];

/* A number that stands for some bytes. */
static unsigned
sum(const void *p, size_t n)
{
	const unsigned char *c = p;
	unsigned h = 2166136261u;

	for (size_t i = 0; i < n; i++)
		h = (h ^ c[i]) * 16777619u;
	return h;
}

static void
fill(size_t n)
{
	for (size_t i = 0; i < n; i++) {
		a[i] = (char)(i * 37 + 11);
		b[i] = (char)(i * 91 + 3);
	}
}

/* Sizes and alignments that take every path of the vector code. */
static void
memory(void)
{
	static const size_t sizes[] = { 0, 1, 2, 3, 4, 7, 8, 15, 16, 17, 31, 32,
		33, 63, 64, 65, 127, 128, 129, 255, 256, 257, 511, 513, 1025,
		4097 };
	unsigned h = 0;

	for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
		size_t n = sizes[i], off = i % 17;

		fill(sizeof(a));
		memcpy(a + off, b + 5, n);
		h = h * 31 + sum(a, n + 64);
		memmove(a + off + 3, a + off, n);
		h = h * 31 + sum(a, n + 64);
		memmove(a + off, a + off + 9, n);
		h = h * 31 + sum(a, n + 64);
		memset(a + off, (int)i, n);
		h = h * 31 + sum(a, n + 64);
		h += (unsigned)((char *)mempcpy(b + off, a, n) - b);
		h += (unsigned)(memcmp(a, b + off, n) == 0);
		h += (unsigned)(memcmp(a + 1, b, n) > 0);
		h += (unsigned)(memchr(a, 77, n) != NULL);
		h += (unsigned)(memrchr(a, 77, n) != NULL);
		a[n] = 'Z';
		h += (unsigned)((char *)rawmemchr(a, 'Z') - a);
		a[n] = '\0';
		h += (unsigned)strnlen(a, n + 10);
		h += (unsigned)(bcmp(a, b, n) != 0);
		bcopy(a, b, n);
		bzero(a, n);
		h = h * 31 + sum(b, n);
	}
	fill(100);
	h += (unsigned)((char *)memmem(a, 100, a + 40, 7) - a);
	h += (unsigned)((char *)memccpy(b, a, a[20], 50) - b);
	memfrob(b, 30);
	swab(a, b, 50);
	h = h * 31 + sum(b, 64);
	printf("memory %u\n", h);
}

static void
strings(void)
{
	char *p, *save;
	unsigned h = 0;

	for (size_t n = 0; n < 140; n += 9) {
		memset(a, 'x', n);
		a[n] = '\0';
		h = h * 31 + (unsigned)strlen(a);
		strcpy(b, a);
		h += (unsigned)(stpcpy(b + n, "yz") - b);
		h += (unsigned)(strcmp(a, b) < 0) +
		    (unsigned)(strncmp(a, b, n) == 0);
		h += (unsigned)(strchr(b, 'y') - b);
		h += (unsigned)(strrchr(b, 'z') - b);
		h += (unsigned)(strchrnul(b, 'q') - b);
		h += (unsigned)(strcasecmp(a, "XX") > 0);
		h += (unsigned)(strncasecmp(b, "XXXX", 4) == 0);
		h += (unsigned)strspn(b, "xy") + (unsigned)strcspn(b, "z");
		h += (unsigned)(strstr(b, "yz") - b);
		strncpy(a + 300, b, 50);
		h += (unsigned)(stpncpy(a + 400, b, 30) - a);
		strcat(b, "!");
		strncat(b, "abcdef", 3);
		h = h * 31 + sum(b, strlen(b));
	}
	printf("strings %u\n", h);
	printf("%s %s %s\n", strpbrk("hello, world", ",!"),
	    strcasestr("Hello World", "WOR"), index("index", 'd'));
	printf("%s %d\n", rindex("rindex", 'i'),
	    strverscmp("file10", "file9") > 0);
	strcpy(a, "one two,three");
	for (p = strtok(a, " ,"); p != NULL; p = strtok(NULL, " ,"))
		printf("[%s]", p);
	strcpy(a, "1:2::3");
	for (p = strtok_r(a, ":", &save); p != NULL;
	     p = strtok_r(NULL, ":", &save))
		printf("(%s)", p);
	strcpy(a, "x;;y");
	save = a;
	while ((p = strsep(&save, ";")) != NULL)
		printf("<%s>", p);
	p = strdup("copied");
	save = strndup("copied", 3);
	printf(" %s %s %d\n", p, save, strcoll("a", "b") < 0);
	free(p);
	free(save);
	printf("%zu %s %s %s %s\n", strxfrm(b, "text", 40), b, strerror(ENOENT),
	    strsignal(SIGHUP), strerrorname_np(EPERM));
	printf("%s %s\n", strerrordesc_np(EPERM), sigabbrev_np(SIGINT));
	strcpy(a, "/usr/lib/file");
	strcpy(b, "/a/b");
	p = dirname(a);
	printf("%s %s %d %d %d\n", p, basename(b), ffs(40), ffsl(1l << 40),
	    ffsll(0));
}

static void
wide(void)
{
	mbstate_t st = { 0 };
	const char *src;
	const wchar_t *wsrc;
	wchar_t *save, w;
	char mb[16];
	size_t h = 0;

	for (size_t n = 0; n < 70; n += 7) {
		wmemset(wa, L'w', n);
		wa[n] = 0;
		wcscpy(wb, wa);
		wcscat(wb, L"end");
		wcsncat(wb, L"more", 2);
		h = h * 31 + wcslen(wb) + wcsnlen(wb, 20);
		h += (size_t)(wcscmp(wa, wb) < 0) +
		    (size_t)(wcsncmp(wa, wb, n) == 0);
		h += (size_t)(wcschr(wb, L'e') - wb) +
		    (size_t)(wcsrchr(wb, L'm') - wb);
		h += (size_t)(wcsstr(wb, L"end") - wb);
		h += (size_t)(wmemchr(wb, L'd', n + 3) - wb);
		h += (size_t)(wmemcmp(wa, wb, n) == 0);
		h += (size_t)(wmempcpy(wa, wb, n) - wa);
		wmemmove(wa + 1, wa, n);
		wmemcpy(wa, wb, 3);
		h += (size_t)(wcpcpy(wa, L"short") - wa);
		wcsncpy(wa, wb, 20);
		h += (size_t)wcscasecmp(L"ABC", L"abc");
		h += wcsspn(wb, L"w") + wcscspn(wb, L"n");
		h += (size_t)(wcspbrk(wb, L"xn") - wb);
	}
	printf("wide %zu\n", h);
	wcscpy(wa, L"a b");
	for (wchar_t *p = wcstok(wa, L" ", &save); p != NULL;
	     p = wcstok(NULL, L" ", &save))
		printf("[%lc]", (wint_t)*p);
	save = wcsdup(L"dup");
	printf("%ls %ld %lu %.3f\n", save, wcstol(L"-42", NULL, 10),
	    wcstoul(L"ff", NULL, 16), wcstod(L"2.5", NULL));
	free(save);
	swprintf(wb, 100, L"%d-%ls", 7, L"seven");
	printf("%ls %zu %zu\n", wb, mbstowcs(wa, "multi", 20),
	    wcstombs(mb, L"bytes", 16));
	printf("%d ", mbtowc(&w, "m", 1));
	printf("%d %d %d %d\n", (int)w, wctomb(mb, L'c'), mblen("x", 1),
	    mbsinit(&st));
	src = "restart";
	wsrc = L"wrestart";
	printf("%zu %zu ", mbrtowc(&w, src, 3, &st), wcrtomb(mb, L'k', &st));
	printf("%zu %zu\n", mbsrtowcs(wa, &src, 20, &st),
	    wcsrtombs(mb, &wsrc, 16, &st));
	printf("%d %d %d %d %d\n", (int)btowc('q'), wctob(L'q'),
	    (int)towupper(L'e'), (int)towlower(L'E'), wcwidth(L'x'));
	printf("%d %d %d %d %d %d\n", iswalpha(L'a') != 0, iswdigit(L'a') != 0,
	    iswspace(L' ') != 0, iswupper(L'U') != 0,
	    iswctype(L'1', wctype("digit")) != 0, wcswidth(L"four", 9));
}

static void
characters(void)
{
	unsigned h = 0;

	for (int c = 0; c < 128; c += 5) {
		h = h * 33 + (unsigned)(toupper)(c) + (unsigned)(tolower)(c);
		h = h * 2 + ((isalnum)(c) != 0);
		h = h * 2 + ((isalpha)(c) != 0);
		h = h * 2 + ((isdigit)(c) != 0);
		h = h * 2 + ((isspace)(c) != 0);
		h = h * 2 + ((isupper)(c) != 0);
		h = h * 2 + ((islower)(c) != 0);
		h = h * 2 + ((ispunct)(c) != 0);
		h = h * 2 + ((isxdigit)(c) != 0);
		h = h * 2 + ((isprint)(c) != 0);
		h = h * 2 + ((iscntrl)(c) != 0);
		h = h * 2 + ((isgraph)(c) != 0);
		h = h * 2 + ((isblank)(c) != 0);
		h += (unsigned)((isascii)(c) + (toascii)(c + 128));
	}
	printf("characters %u\n", h);
}

static void
numbers(void)
{
	int decpt, sign;
	char *end;
	div_t d = div(17, -5);
	ldiv_t ld = ldiv(-17, 5);
	lldiv_t lld = lldiv(17, 5);
	imaxdiv_t im = imaxdiv(-9, 4);

	printf("%d %ld %lld %.4f\n", atoi("-12"), atol("34"), atoll("56"),
	    atof("7.125"));
	printf("%ld ", strtol("0x1fz", &end, 0));
	printf("%s ", end);
	printf("%lu %lld %llu\n", strtoul("0777", NULL, 8),
	    strtoll("-zz", NULL, 36),
	    strtoull("18446744073709551615", NULL, 10));
	printf("%.17g %.9g %.5Lf %.3f\n", strtod("3.141592653589793", NULL),
	    (double)strtof("2.71828", NULL), strtold("1e-3", NULL),
	    strtod("0x1.8p3", NULL));
	printf("%" PRIdMAX " %" PRIuMAX " %ld %s\n", strtoimax("-5", NULL, 10),
	    strtoumax("5", NULL, 10), a64l("./1"), l64a(4711));
	printf("%s ", ecvt(1234.5, 6, &decpt, &sign));
	printf("%s ", fcvt(-0.125, 4, &decpt, &sign));
	printf("%s %d %d\n", gcvt(12.5, 8, a), decpt, sign);
	printf("%d %d %ld %ld %lld %d\n", d.quot, d.rem, ld.quot, ld.rem,
	    lld.rem, (int)im.rem);
	printf(
	    "%d %ld %lld %d\n", abs(-3), labs(-4), llabs(-5), (int)imaxabs(-6));
	strfromd(a, 50, "%.6e", 123456.789);
	strfromf(b, 50, "%g", 0.5f);
	printf("%s %s\n", a, b);
}

static int
to_buffer(char *buf, size_t n, const char *fmt, ...)
{
	va_list ap;
	int r;

	va_start(ap, fmt);
	r = vsnprintf(buf, n, fmt, ap);
	va_end(ap);
	return r;
}

static int
from_buffer(const char *buf, const char *fmt, ...)
{
	va_list ap;
	int r;

	va_start(ap, fmt);
	r = vsscanf(buf, fmt, ap);
	va_end(ap);
	return r;
}

static void
formats(void)
{
	char *p, word[20];
	int i, j;
	double d;

	sprintf(a, "%5d|%-5d|%05d|%+d|%x|%#o|%c|%s|%.2s", 42, 42, 42, 42, 255,
	    8, 'c', "string", "string");
	snprintf(b, 30, "%.3f %e %g %a", 3.14159, 31415.9, 1e10, 0.5);
	printf("%s %s\n", a, b);
	printf("%d %s\n", to_buffer(a, 10, "%s", "a long text that is cut"), a);
	if (asprintf(&p, "%*d %lld %zu %p", 6, 1, 1ll << 40, (size_t)9, NULL) >
	    0)
		printf("%s\n", p);
	free(p);
	i = sscanf("12 0x1f 3.5 word", "%d %i %lf %19s", &i, &j, &d, word);
	printf("%d %d %.1f %s\n", i, j, d, word);
	i = from_buffer("[abc] 7", "[%[a-z]] %d", word, &j);
	printf("%d %s %d\n", i, word, j);
	fprintf(stdout, "%s", "fprintf ");
	fputs("fputs ", stdout);
	fputc('f', stdout);
	putchar('p');
	putc('c', stdout);
	puts(" puts");
	fwrite("fwrite\n", 1, 7, stdout);
	fflush(stdout);
	dprintf(1, "dprintf %d\n", 1);
}

static int
by_value(const void *x, const void *y)
{
	return *(const int *)x - *(const int *)y;
}

static int
by_value_r(const void *x, const void *y, void *calls)
{
	++*(int *)calls;
	return by_value(y, x);
}

static int walked;

static void
walk(const void *node, VISIT v, int depth)
{
	if (v == postorder || v == leaf)
		walked += **(int *const *)node * (depth + 1);
}

static void
searching(void)
{
	int v[60], w[60], key = 21, calls = 0;
	void *root = NULL;
	size_t n = 0;
	ENTRY e = { (char *)"key", (char *)"data" }, *found;
	struct qelem {
		struct qelem *next, *prev;
	} q1 = { 0 }, q2 = { 0 };

	for (int i = 0; i < 60; i++)
		v[i] = w[i] = (i * 37) % 60;
	qsort(v, 60, sizeof(*v), by_value);
	qsort_r(w, 60, sizeof(*w), by_value_r, &calls);
	printf("%u %u %d ", sum(v, sizeof(v)), sum(w, sizeof(w)), calls > 60);
	printf("%d ", *(int *)bsearch(&key, v, 60, sizeof(*v), by_value));
	lsearch(&key, w, &n, sizeof(*w), by_value);
	printf("%zu %d\n", n, lfind(&key, w, &n, sizeof(*w), by_value) != NULL);
	for (int i = 0; i < 30; i++)
		tsearch(&w[i * 2], &root, by_value);
	for (int i = 0; i < 5; i++)
		tdelete(&w[i * 2], &root, by_value);
	twalk(root, walk);
	printf("%d %d\n", walked, tfind(&w[20], &root, by_value) != NULL);
	hcreate(20);
	hsearch(e, ENTER);
	found = hsearch(e, FIND);
	printf("%s\n", found != NULL ? (char *)found->data : "-");
	hdestroy();
	insque(&q1, NULL);
	insque(&q2, &q1);
	remque(&q2);
	printf("%d\n", q1.next == NULL);
}

static void
randoms(void)
{
	unsigned seed = 5;
	unsigned short x[3] = { 1, 2, 3 };

	srand(7);
	printf("%d %d ", rand(), rand_r(&seed));
	srandom(9);
	printf("%ld ", random());
	srand48(11);
	printf("%.6f %.6f %ld %ld %ld %ld\n", drand48(), erand48(x), lrand48(),
	    nrand48(x), mrand48(), jrand48(x));
}

static void
streams(void)
{
	char text[] = "first line\nsecond line\nlast", *lp = NULL, *mem;
	size_t size = 0, len;
	fpos_t pos;
	FILE *f = fmemopen(text, strlen(text), "r");

	printf("%s", fgets(a, 100, f));
	fgetpos(f, &pos);
	printf("%ld %d ", ftell(f), fgetc(f));
	ungetc('S', f);
	printf("%zd ", getline(&lp, &size, f));
	printf("%s", lp);
	printf("%zd ", getdelim(&lp, &size, 's', f));
	printf("%s ", lp);
	fsetpos(f, &pos);
	printf("%c ", getc(f));
	fseek(f, 3, SEEK_SET);
	printf("%zu %d ", fread(a, 1, 5, f), feof(f));
	rewind(f);
	clearerr(f);
	printf("%d %d\n", ferror(f), getc_unlocked(f));
	fclose(f);
	free(lp);
	f = open_memstream(&mem, &len);
	fprintf(f, "%d %s", 1, "in memory");
	fputs(" more", f);
	fclose(f);
	printf("%zu %s\n", len, mem);
	free(mem);
	f = tmpfile();
	if (f != NULL) {
		setvbuf(f, NULL, _IOFBF, 256);
		for (int i = 0; i < 40; i++)
			fprintf(f, "%d,", i * i);
		fflush(f);
		printf("%d ", fileno(f) > 2);
		rewind(f);
		printf("%zu %u\n", fread(a, 1, 400, f), sum(a, 100));
		fclose(f);
	}
}

static void
times(void)
{
	time_t t = 1000000000, u;
	struct tm tm, tm2 = { 0 };

	gmtime_r(&t, &tm);
	printf("%zu %s ", strftime(a, 100, "%A %d %B %Y %T %j %U", &tm), a);
	printf("%s", asctime_r(&tm, a));
	printf("%d ",
	    strptime("2020-02-29 12:34:56", "%Y-%m-%d %T", &tm2) != NULL);
	u = timegm(&tm2);
	printf("%ld %.0f ", (long)u, difftime(u, t));
	tzset();
	localtime_r(&t, &tm);
	printf("%ld %s", (long)mktime(&tm), ctime_r(&t, a));
}

static void
environment(void)
{
	static char put[] = "PUT=put";

	setenv("DTRAP_T", "value", 1);
	putenv(put);
	printf("%s %s ", getenv("DTRAP_T"), secure_getenv("PUT"));
	unsetenv("DTRAP_T");
	printf("%d\n", getenv("DTRAP_T") == NULL);
}

static void
allocation(void)
{
	void *p[40];
	unsigned h = 0;

	for (size_t i = 0; i < 40; i++) {
		p[i] = i % 3 == 0 ? malloc(i * 50 + 1) :
		    i % 3 == 1    ? calloc(i, 30) :
				    NULL;
		p[i] = realloc(p[i], i * 70 + 10);
		memset(p[i], (int)i, i * 70 + 10);
	}
	for (size_t i = 0; i < 40; i++) {
		h = h * 31 + sum(p[i], i * 70 + 10);
		h += malloc_usable_size(p[i]) >= i * 70 + 10;
		free(p[i]);
	}
	p[0] = aligned_alloc(64, 128);
	p[1] = memalign(32, 100);
	if (posix_memalign(&p[2], 128, 10) != 0)
		p[2] = NULL;
	p[3] = reallocarray(NULL, 10, 10);
	for (int i = 0; i < 4; i++) {
		h = h * 2 + ((uintptr_t)p[i] % 16 == 0);
		free(p[i]);
	}
	printf("allocation %u\n", h);
}

static void
patterns(void)
{
	regmatch_t m[3];
	regex_t re;
	wordexp_t we;

	printf("%d ", regcomp(&re, "([a-z]+)-([0-9]{2,})", REG_EXTENDED));
	printf("%d ", regexec(&re, "see abc-123 there", 3, m, 0));
	printf("%d %d %d ", (int)m[0].rm_so, (int)m[1].rm_eo, (int)m[2].rm_so);
	printf("%d ", regexec(&re, "none", 3, m, 0));
	regerror(REG_NOMATCH, &re, a, 100);
	regfree(&re);
	printf("%s\n", a);
	printf("%d %d\n", fnmatch("*.[ch]", "file.c", 0),
	    fnmatch("a?c", "abbc", 0) != 0);
	if (wordexp("one 'two three' four", &we, WRDE_NOCMD) == 0) {
		printf("%zu %s\n", we.we_wordc, we.we_wordv[1]);
		wordfree(&we);
	}
}

static void
addresses(void)
{
	struct in_addr in;
	unsigned char six[16];

	printf("%d ", inet_aton("192.0.2.1", &in));
	printf("%s ", inet_ntoa(in));
	printf("%d ", inet_pton(AF_INET6, "2001:db8::1", six));
	printf(
	    "%s %x ", inet_ntop(AF_INET6, six, a, 100), inet_addr("10.0.0.1"));
	printf("%x %x %x %x\n", htonl(0x01020304), ntohl(1), htons(0x0102),
	    ntohs(1));
}

static void
options(void)
{
	char *argv[] = { (char *)"x", (char *)"-a", (char *)"-b", (char *)"arg",
		(char *)"--long=5", (char *)"rest", NULL };
	const struct option longs[] = { { "long", 1, NULL, 'l' }, { 0 } };
	char subs[] = "ro,size=3", *sp = subs, *value;
	char *const tokens[] = { (char *)"ro", (char *)"size", NULL };
	int c;

	optind = 0;
	while ((c = getopt_long(6, argv, "ab:", longs, NULL)) != -1)
		printf("%c%s ", c, optarg != NULL ? optarg : "");
	optind = 0;
	while ((c = getopt(4, argv, "+ab:")) != -1)
		printf("%c", c);
	while (*sp != '\0') {
		c = getsubopt(&sp, tokens, &value);
		printf(" %d=%s", c, value != NULL ? value : "");
	}
	printf("\n");
}

static void
sets(void)
{
	sigset_t x, y, z;

	sigemptyset(&x);
	sigfillset(&y);
	sigaddset(&x, SIGUSR1);
	sigdelset(&y, SIGUSR2);
	sigandset(&z, &x, &y);
	printf("%d %d %d ", sigismember(&z, SIGUSR1), sigismember(&y, SIGUSR2),
	    sigisemptyset(&x));
	sigorset(&z, &x, &y);
	printf("%d\n", sigismember(&z, SIGUSR2));
}

static void
lists(void)
{
	char *az = NULL, *p = NULL;
	size_t len = 0;

	argz_create_sep("one:two:three", ':', &az, &len);
	argz_add(&az, &len, "four");
	printf("%zu", argz_count(az, len));
	while ((p = argz_next(az, len, p)) != NULL)
		printf(" %s", p);
	argz_stringify(az, len, '+');
	printf(" %s\n", az);
	free(az);
}

static void
files(void)
{
	struct stat st;
	char buf[20];
	int fd = open("/dev/null", O_RDWR);
	int two = dup(fd);

	printf("%d %zd %zd ", two == fd + 1, read(fd, buf, 20),
	    write(two, "x", 1));
	printf("%ld %d %d ", (long)lseek(fd, 0, SEEK_SET), fstat(fd, &st),
	    S_ISCHR(st.st_mode));
	printf("%d %d ", access("/dev/null", R_OK), access("/no/such", R_OK));
	printf("%s %d ", realpath("/dev/../dev/null", a), getcwd(b, 4096) == b);
	printf("%d %d %d\n", isatty(fd), close(two), close(fd));
	printf("%d %d %ld %s\n", getpid() == getppid(),
	    (int)(getuid() - geteuid()), sysconf(_SC_PAGESIZE),
	    setlocale(LC_ALL, NULL));
	printf("%s %s\n", nl_langinfo(RADIXCHAR), localeconv()->decimal_point);
}

static ucontext_t here, there;
static jmp_buf env;
static volatile int switched;

static void
other(void)
{
	switched++;
	swapcontext(&there, &here);
	switched++;
}

static void
contexts(void)
{
	static char stack[1 << 16];
	volatile int jumps = 0;

	if (_setjmp(env) < 3)
		if (jumps++ < 5)
			longjmp(env, jumps);
	getcontext(&there);
	there.uc_stack.ss_sp = stack;
	there.uc_stack.ss_size = sizeof(stack);
	there.uc_link = &here;
	makecontext(&there, other, 0);
	swapcontext(&here, &there);
	swapcontext(&here, &there);
	printf("jumps %d switched %d\n", jumps, switched);
}

int
main(void)
{
	setvbuf(stdout, NULL, _IOFBF, 4096);
	memory();
	strings();
	wide();
	characters();
	numbers();
	formats();
	searching();
	randoms();
	streams();
	times();
	environment();
	allocation();
	patterns();
	addresses();
	options();
	sets();
	lists();
	files();
	contexts();
	return fflush(stdout) == 0 ? 0 : 1;
}
