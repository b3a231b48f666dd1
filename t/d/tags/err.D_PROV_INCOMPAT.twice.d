/* A provider is declared one way. */
provider p {
	probe a();
};
provider p {
	probe b();
};
