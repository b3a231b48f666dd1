/* A member has no keys. */
struct s {
	int a[int];
};
