/* A byte that is no character. */
BEGIN { trace(“hello”); }
