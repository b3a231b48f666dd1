#pragma D attributes Stable/Sturdy/Common x
int x;
