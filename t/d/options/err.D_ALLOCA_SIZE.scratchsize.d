#pragma D option scratchsize=128
BEGIN { p = alloca(129); }
