provider app {
	probe go(int, ...);
};
