/* A misspelt variable of the thread. */
BEGIN { self->begun = timestamp; }
BEGIN { trace(self->begunn); }
