/* A member is given what it can hold. */
struct in {
	int a;
};
struct out {
	int b;
	int c;
};

translator struct out < struct in *p > {
	b = "a";
};
