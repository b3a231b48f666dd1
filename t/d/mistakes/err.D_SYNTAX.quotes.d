/* Quotes of a word processor; in a comment “they” are no harm. */
BEGIN { trace("ü"); printf(“hello\n”); }
