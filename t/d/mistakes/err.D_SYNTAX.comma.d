/* A comma is missing. */
BEGIN { printf("%d\n" pid); }
