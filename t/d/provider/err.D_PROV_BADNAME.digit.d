provider app1 {
	probe go();
};
