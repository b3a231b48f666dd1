/* Floating-point types have no unsigned form. */
unsigned float x;
