provider app {
	probe go() : (int a);
};
