/* Bit-fields are integers. */
struct s {
	string x : 3;
};
