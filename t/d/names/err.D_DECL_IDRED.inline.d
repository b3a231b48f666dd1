/* A constant is defined once. */
inline int limit = 3;
inline int limit = 4;
