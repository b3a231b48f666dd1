#!/bin/sh
# In place of test_ctf where dtrap is built without it.
echo "built without CTF"
exit 77
