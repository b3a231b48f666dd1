BEGIN { speculate(1); copyout(alloca(8), 0, 8); }
