/* A variable of the thread, without self->. */
BEGIN { self->begun = timestamp; }
BEGIN { trace(begun); }
