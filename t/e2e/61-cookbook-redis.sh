#!/bin/bash
# timeout: 600
# What the cookbook says of redis.
. "${0%/*}/cookbook.sh"
need redis-cli redis-benchmark
cookbook_server 'redis'
