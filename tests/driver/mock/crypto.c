/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/* The kernel's crypto: nettle's HMAC with SHA-256. Every call may refuse. */
#include "unit.h"

#include <nettle/hmac.h>
#include <stdlib.h>

#include "mock.h"

struct crypto_shash {
	struct hmac_sha256_ctx keyed;
	bool has_key;
};

/* Kernel modules are loaded for it: nobody pays for what it takes. */
struct crypto_shash *crypto_alloc_shash(const char *name, u32 type, u32 mask)
{
	struct crypto_shash *tfm;

	assert_string_equal(name, "hmac(sha256)");
	if (mock_fails(__func__, __func__, -ENOENT))
		return ERR_PTR(-ENOENT);
	tfm = mock_alloc(sizeof(*tfm), GFP_KERNEL_ACCOUNT, true, __func__);
	return tfm ? tfm : ERR_PTR(-ENOMEM);
}

void crypto_free_shash(struct crypto_shash *tfm)
{
	mock_free(tfm);
}

int crypto_shash_setkey(struct crypto_shash *tfm, const u8 *key, unsigned int n)
{
	if (mock_fails(__func__, __func__, -EINVAL))
		return -EINVAL;
	hmac_sha256_set_key(&tfm->keyed, n, key);
	tfm->has_key = true;
	return 0;
}

int crypto_shash_init(struct shash_desc *d)
{
	struct hmac_sha256_ctx *state;

	if (!d->tfm->has_key)
		return -ENOKEY;
	if (mock_fails(__func__, __func__, 0))
		return -EIO;
	state = malloc(sizeof(*state));
	*state = d->tfm->keyed;
	d->state = state;
	return 0;
}

int crypto_shash_update(struct shash_desc *d, const void *p, unsigned int n)
{
	if (mock_fails(__func__, __func__, 0))
		return -EIO;
	hmac_sha256_update(d->state, n, p);
	return 0;
}

int crypto_shash_final(struct shash_desc *d, u8 *out)
{
	if (mock_fails(__func__, __func__, 0))
		return -EIO;
	hmac_sha256_digest(d->state, 32, out);
	return 0;
}

void shash_desc_zero(struct shash_desc *d)
{
	free(d->state);
	d->state = NULL;
}

unsigned long crypto_memneq(const void *a, const void *b, size_t n)
{
	return memcmp(a, b, n) != 0;
}
