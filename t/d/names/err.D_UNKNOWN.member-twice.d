struct pair {
	int first;
	long first;
};
