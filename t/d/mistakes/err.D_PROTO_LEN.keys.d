/* Another number of keys than before. */
BEGIN { @calls[1] = count(); }
BEGIN { @calls[1, 2] = count(); }
