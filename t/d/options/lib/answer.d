inline int answer = 42;
