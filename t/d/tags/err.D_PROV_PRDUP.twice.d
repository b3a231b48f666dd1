/* A probe is declared once. */
provider p {
	probe a();
	probe a();
};
