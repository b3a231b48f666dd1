#!/bin/bash
# timeout: 600
# What the cookbook says of nginx.
. "${0%/*}/cookbook.sh"
need curl
cookbook_server 'nginx'
