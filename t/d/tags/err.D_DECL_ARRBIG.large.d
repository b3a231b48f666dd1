/* An array beyond what an address can reach. */
int x[4294967296];
