/* One clause, one speculation. */
BEGIN { speculate(1); speculate(1); }
