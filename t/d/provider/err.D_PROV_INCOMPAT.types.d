provider app {
	probe go(int a);
};
provider app {
	probe go(char *a);
};
