/* A named bit-field has a width. */
struct s {
	int x : 0;
};
