#!/bin/bash
# timeout: 600
# What the cookbook says of Python, Node and PHP.
. "${0%/*}/cookbook.sh"
need node php
cookbook 'Python' 'Node' 'PHP'
