#!/bin/bash
# timeout: 600
# What the cookbook says of any program, of shells, and of scripts.
. "${0%/*}/cookbook.sh"
need cc tar
cookbook 'Any program' 'Shell' 'Scripts'
