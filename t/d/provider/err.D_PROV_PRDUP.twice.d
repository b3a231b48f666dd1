provider app {
	probe go();
	probe go(int);
};
