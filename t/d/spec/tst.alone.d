/* A clause that does nothing but speculate() records that it ran. */
BEGIN { self->s = speculation(); }
BEGIN { speculate(self->s); }
BEGIN { commit(self->s); }
BEGIN { exit(0); }
