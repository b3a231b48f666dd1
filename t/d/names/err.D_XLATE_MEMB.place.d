struct from {
	int a;
};
struct to {
	int b;
};
translator struct to < struct from *f > {
	b = f->a;
	nothing = f->a;
};
