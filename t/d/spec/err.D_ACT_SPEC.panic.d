/* Said before that there is no kernel to panic. */
BEGIN { speculate(1); panic(); }
