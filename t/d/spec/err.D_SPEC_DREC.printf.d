/* Also after what the consumer does. */
BEGIN { printf("x"); speculate(1); }
