BEGIN { trace("no" "glue"); }
