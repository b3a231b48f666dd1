/* Void has no sign. */
unsigned void x;
