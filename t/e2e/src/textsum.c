/*
 * textsum PID: one line for each executable mapping of a process, with a hash
 * of its bytes as they are in memory; for comparing before and after.
 */
#include <fcntl.h>
#include <inttypes.h>
#include <stdint.h>

#include "trigger.h"

/* FNV-1a, 64 bits; false if the mapping cannot be read. */
static int
hash(int mem, uint64_t start, uint64_t end, uint64_t *out)
{
	static unsigned char buf[1 << 16];
	uint64_t h = 0xcbf29ce484222325ull;

	for (uint64_t at = start; at < end;) {
		size_t want = sizeof(buf);
		ssize_t got;

		if (want > end - at)
			want = end - at;
		got = pread(mem, buf, want, (off_t)at);
		if (got <= 0)
			return 0;
		for (ssize_t i = 0; i < got; i++)
			h = (h ^ buf[i]) * 0x100000001b3ull;
		at += (uint64_t)got;
	}
	*out = h;
	return 1;
}

int
main(int argc, char **argv)
{
	char path[64], line[4096], perms[8], file[4096];
	uint64_t start, end, h;
	FILE *maps;
	int mem;

	if (argc != 2)
		return 2;
	snprintf(path, sizeof(path), "/proc/%s/mem", argv[1]);
	mem = open(path, O_RDONLY);
	snprintf(path, sizeof(path), "/proc/%s/maps", argv[1]);
	maps = fopen(path, "r");
	if (mem < 0 || maps == NULL) {
		perror(path);
		return 1;
	}
	while (fgets(line, sizeof(line), maps) != NULL) {
		file[0] = '\0';
		if (sscanf(line,
			"%" SCNx64 "-%" SCNx64 " %7s %*s %*s %*s %4095s",
			&start, &end, perms, file) < 3)
			continue;
		if (perms[2] != 'x' || strcmp(file, "[vsyscall]") == 0)
			continue;
		if (!hash(mem, start, end, &h)) {
			fprintf(stderr, "cannot read %s", line);
			return 1;
		}
		printf("%" PRIx64 "-%" PRIx64 " %s %s %016" PRIx64 "\n", start,
		    end, perms, file[0] != '\0' ? file : "(anonymous)", h);
	}
	return 0;
}
