provider app {
	probe go(int a, int b) : (int a, int b);
};
provider app {
	probe go(int a, int b) : (int b, int a);
};
