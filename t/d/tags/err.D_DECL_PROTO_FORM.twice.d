/* And no other has it. */
inline int n[int a, int a] = 1;
