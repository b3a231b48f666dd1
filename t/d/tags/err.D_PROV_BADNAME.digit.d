/* A provider's name ends before its pid. */
provider p1 {
};
