/* For the whole of what is printed with it. */
BEGIN { trace("loud"); }
BEGIN { setopt("quiet"); trace("quiet"); }
BEGIN { setopt("quiet", "no"); trace("loud again"); exit(0); }
