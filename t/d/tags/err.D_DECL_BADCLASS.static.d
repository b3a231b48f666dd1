/* Classes of C that mean nothing here. */
static int x;
