#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
# timeout: 200
# The explorer of the shared memory's protocol finds what is wrong with it: each of these
# changes breaks the protocol, and must be found.
cd "$(dirname "$0")/../.." && . tests/lib.sh
make_tmp
cc=${CC:-cc}

build()
{
	$cc -std=gnu11 -O1 -w -I"$TMP/proto" -Idsm/lib/env -Itests/mock \
		"$TMP"/proto/*.c tests/mock/dsm_world.c tests/unit/model_dsm.c \
		-o "$TMP/model"
}

# planted FILE SED WORDS: what the explorer says has to match the words.
planted()
{
	rm -rf "$TMP/proto"
	cp -r dsm/proto "$TMP/proto"
	sed -i -z "$2" "$TMP/proto/$1"
	cmp -s "dsm/proto/$1" "$TMP/proto/$1" && fail "nothing to change in $1: $2"
	build || fail "does not compile: $2"
	LONG=0 timeout 60 "$TMP/model" >"$TMP/out" 2>&1 &&
		fail "not found: $1 with $2"
	grep -qE "$3" "$TMP/out" && return
	head -n 3 "$TMP/out"
	fail "found, but not as expected ($3): $1 with $2"
}

# A writer does not call back the readers' copies.
planted home.c 's/pg->pending = others;/others = 0;/' 'writer beside readers'
# Serving goes on before all copies are back.
planted home.c 's/if (pg->pending)\n\t\t\treturn;//' 'writer|nobody should'
# The home forgets its own copy.
planted home.c 's/pg->access > \*keep;/0;/' 'writer beside readers'
# The content is taken for zeros although somebody has written.
planted home.c 's/pg->filled = pg->alone = 1;\n\tpg->copies = dsm_only(pg->asker)/pg->alone = 1;\n\tpg->copies = dsm_only(pg->asker)/' 'latest write|does not hold'
# A reader of a written page is not entered as the owner of a copy.
planted home.c 's/pg->copies |= dsm_only(pg->asker);//' 'latest write|writer'
# One who waits is forgotten when the home moves.
planted home.c 's/waiting = old.readers | old.writers/waiting = old.readers/' 'somebody waits'
# The home moves, and does not know it.
planted home.c 's/\.home = (u8)(old.asker + 1) };/.home = old.home };/' 'waits|wanted|homes|writer|nobody'
# A second question is thrown away with the first.
planted home.c 's/ \&\& access <= pg->asked)/)/' 'waits|wanted'
# A node answers, and keeps its copy.
planted node.c 's/pg->access = (u8)keep;//' 'writer|run without|latest'
# It gives a written page back without its content.
planted node.c 's/written ? DSM_DATA : 0/0/; s/give(p, page, keep, written)/give(p, page, keep, 0)/' 'nobody should'
# A page that was held back is never given.
planted node.c 's/if (!pg->delayed)\n\t\treturn;/return;/' 'waits|wanted|run without'
# Two questions at a time.
planted node.c 's/if (pg->want)\n\t\treturn DSM_UNDER_WAY;//' 'bound|run without|waits'
# The dead are waited for.
planted home.c 's/pg->pending \&= ~dsm_only(node);//' 'waits|wanted'
# What died with its writer is served from memory.
planted home.c 's/if (had \&\& pg->alone)/if (0)/' 'latest|not here|waits|hold'
# Questions that were passed on to the dead are not asked again.
planted proto.c 's/warn_passed(p, page);\n\tif/if/' 'waits|wanted'
planted proto.c 's/\n\task_again(p, page);\n}\n\nvoid/\n}\n\nvoid/' 'waits|wanted'

exit 0
