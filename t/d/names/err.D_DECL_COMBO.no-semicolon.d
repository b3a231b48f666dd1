struct one {
	int a;
}
struct two {
	int b;
};
