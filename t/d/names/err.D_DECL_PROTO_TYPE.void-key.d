int seen[int, void];
