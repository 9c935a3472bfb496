/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * Which kernels: sockmaps lost data or crashed in many releases, and the fixes
 * went to the stable ones late. 6.1 has them from 6.1.170 on, 6.12 from 6.12.94
 * on, and 6.18 and later from the start. Releases in between ended without them.
 */
#include "bpf.h"

#include <stdio.h>
#include <string.h>

struct kernel {
	unsigned major, minor, patch;
};

/* Debian's release is "6.1.0-37-amd64"; the true one is in the version, "... Debian
 * 6.1.190-1 (...)". */
static bool read_kernel(const char *release, const char *version,
			struct kernel *k)
{
	const char *debian = strstr(version, "Debian ");

	if (debian && sscanf(debian, "Debian %u.%u.%u", &k->major, &k->minor,
			     &k->patch) == 3)
		return true;
	k->patch = 0;
	return sscanf(release, "%u.%u.%u", &k->major, &k->minor, &k->patch) >=
	       2;
}

bool bpf_kernel_sound(const char *release, const char *version, char *why,
		      size_t why_size)
{
	struct kernel k;
	unsigned need = 0;

	if (!read_kernel(release, version, &k)) {
		snprintf(why, why_size, "kernel \"%s\" has no version number",
			 release);
		return false;
	}
	if (k.major > 6 || (k.major == 6 && k.minor >= 18))
		return true;
	if (k.major == 6 && k.minor == 1)
		need = 170;
	else if (k.major == 6 && k.minor == 12)
		need = 94;
	if (need && k.patch >= need)
		return true;
	snprintf(
		why, why_size,
		"kernel %u.%u.%u is known to lose data in sockmaps; 6.1.170, 6.12.94 or 6.18 is needed",
		k.major, k.minor, k.patch);
	return false;
}
