/* A key of another type than before. */
BEGIN { @calls[1] = count(); }
BEGIN { @calls["one"] = count(); }
