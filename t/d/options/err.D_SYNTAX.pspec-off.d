/* The beginning of a declaration, unless the option says otherwise. */

int*x
