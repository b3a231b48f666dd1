#!/bin/bash
# timeout: 600
# What the cookbook says of PostgreSQL.
. "${0%/*}/cookbook.sh"
need setpriv
cookbook_server 'PostgreSQL'
