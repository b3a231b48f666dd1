/* A provider that shows a kernel: what there is instead. */
lockstat::: { exit(0); }
