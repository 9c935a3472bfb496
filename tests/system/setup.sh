#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
# scripts/install-packages: no server is started while packages are installed, and
# those that are new are not started with the machine either. apt and its like are
# made up.
cd "$(dirname "$0")/../.." && . tests/lib.sh
make_tmp
mkdir "$TMP/bin"
export POLICY_RC_D=$TMP/policy RUN_DIR=$TMP SAID=$TMP/said

# fake NAME: a program that reads its text from standard input.
fake()
{
	{ echo '#!/bin/sh' && cat; } >"$TMP/bin/$1" && chmod 755 "$TMP/bin/$1"
}
fake apt-get <<'END'
"$POLICY_RC_D" ssh start
echo "apt-get $*, policy $?" >>"$SAID"
[ "${APT_FAILS:-0}" = 0 ]
END
# munge is there already.
fake dpkg-query <<'END'
for package; do :; done
[ "$package" = munge ] && printf installed
END
fake systemctl <<'END'
echo "systemctl $*" >>"$SAID"
END
fake update-rc.d <<'END'
END

PATH=$TMP/bin:$PATH scripts/install-packages install one two || fail "it does not install"
expect "$SAID" '^apt-get .*install -y .* one two, policy 101$'
expect "$SAID" '^systemctl disable ssh$'
expect_not "$SAID" 'disable munge'
[ ! -e "$POLICY_RC_D" ] || fail "servers may not be started any more"

APT_FAILS=1 PATH=$TMP/bin:$PATH scripts/install-packages install one &&
	fail "a failure of apt-get was not seen"
[ ! -e "$POLICY_RC_D" ] || fail "servers may not be started after a failure"

# What the machine says itself stays.
printf '#!/bin/sh\nexit 0\n' >"$POLICY_RC_D" && chmod 755 "$POLICY_RC_D"
: >"$SAID"
PATH=$TMP/bin:$PATH scripts/install-packages install one || fail "it does not install"
expect "$SAID" 'policy 0$'
[ -e "$POLICY_RC_D" ] || fail "a policy of the machine was removed"
