// Without a file in assembly the compiler wants all functions to have bodies.
