provider app {
	probe go();
};
provider app {
	probe went();
};
