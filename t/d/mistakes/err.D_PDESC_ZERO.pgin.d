/* A probe of which dtrap has only the neighbours. */
vminfo:::pgin { exit(0); }
