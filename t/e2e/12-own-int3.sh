#!/bin/bash
# A program's own int3 is its own, also where a probe sits on it.
. "${0%/*}/lib.sh"

# shellcheck disable=SC2016
{
same_traced 'pid$target:a.out:work:entry,pid$target:a.out:work:return' "$bin/own_int3"
is "hits" "$hits" 20
same_traced 'pid$target:a.out:work:,pid$target:a.out:on_trap:' "$bin/own_int3"
same_traced 'pid$target:a.out:trapped:entry,pid$target:a.out:main:' "$bin/own_int3"
}
finish
