/* bar NAME DRINK...: a bar that makes a probe for each drink on its menu, which its
 * provider NAME has: see the tutorial. */
#include <dtrap-provider.h>
#include <stdio.h>
#include <unistd.h>

static void
serve(dtrap_probe *probe, int guest, const char *said)
{
	if (dtrap_probe_watched(probe)) {
		const uint64_t args[] = { (uint64_t)guest, (uintptr_t)said };
		dtrap_probe_fire(probe, args);
	}
	usleep(guest % 4 == 0 ? 20000 : 2000);
}

int
main(int argc, char **argv)
{
	static const enum dtrap_arg types[] = { DTRAP_INT32, DTRAP_STRING };
	static const char *said[] = { "please", "quick!" };
	dtrap_probe *drinks[16];
	dtrap_provider *bar;
	int n = 0, error = dtrap_provider_create(argc > 1 ? argv[1] : "", &bar);

	for (; error == 0 && n < argc - 2 && n < 16; n++)
		error = dtrap_provider_probe(
		    bar, "serve", argv[n + 2], 2, types, &drinks[n]);
	if (error == 0)
		error = dtrap_provider_load(bar);
	if (error != 0)
		printf("no probes: %s\n", dtrap_provider_strerror(error));
	printf("the bar is open\n");
	fflush(stdout);
	for (int guest = 1; error == 0 && n > 0; guest++)
		serve(drinks[guest % n], guest, said[guest % 3 == 0]);
	return error != 0;
}
