nobody:::nothing { printf("never\n"); }
