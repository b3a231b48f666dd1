/* A provider that shows a kernel: what there is instead. */
vminfo::: { exit(0); }
