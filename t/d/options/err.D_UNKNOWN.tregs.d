#pragma D option tregs=2
BEGIN { x[1, 2, 3] = 4; }
