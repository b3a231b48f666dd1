#!/bin/bash
# timeout: 600
# What the cookbook says of Java.
. "${0%/*}/cookbook.sh"
need java javac
cookbook 'Java'
