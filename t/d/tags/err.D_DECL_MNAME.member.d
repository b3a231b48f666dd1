/* A member has a name. */
struct s {
	int;
};
