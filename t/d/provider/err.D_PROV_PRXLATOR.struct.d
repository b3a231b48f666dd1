struct in { int i; };
struct out { int o; };
provider app {
	probe go(struct in *a) : (struct out *a);
};
