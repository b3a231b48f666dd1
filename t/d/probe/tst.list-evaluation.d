/* -l -v: who could evaluate predicate and actions. */
/* @opts: -l -v */
BEGIN /arg0 > 4096/ { @ = count(); }
END /execname == "x"/ { @b[ustack()] = quantize(timestamp); exit(0); }
ERROR { x[arg0] = 1; }
tick-1s { self->t = timestamp; this->u = self->t; }
