#pragma D option iregs=2
BEGIN { a = 1; trace((a + 1) * ((a + 2) * ((a + 3) * (a + 4)))); }
