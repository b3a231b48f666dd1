/* self-> before a variable of all threads. */
BEGIN { begun = timestamp; }
BEGIN { trace(self->begun); }
