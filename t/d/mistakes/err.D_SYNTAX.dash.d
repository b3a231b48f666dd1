/* A dash of a word processor. */
BEGIN { trace(pid – 1); }
