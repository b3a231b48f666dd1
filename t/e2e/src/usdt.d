/* The static probes of usdt.c and usdtlib.c. */
struct thing {
	int number;
	char *text;
};

provider my__app {
	probe plain();
	probe args(int n, string s, struct thing *t);
	probe mapped(int a, char *b) : (char *b, int a, int a);
	probe un__watched(short n);
	probe never();
};

provider usdt_lib {
	probe call(int n);
};
