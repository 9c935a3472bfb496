/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * From a process to a rank: ask the launcher who we are, agree on the job's
 * secret, open the endpoint and leave its address on the launcher's board.
 * Addresses of the others are read when first needed.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "log.h"
#include "pmi.h"
#include "process.h"

#define SECRET_KEY "o2g-secret"
#define SECRET_HEX (2 * O2G_SECRET_SIZE + 1)

static void to_hex(const unsigned char *bytes, char *hex)
{
	for (int i = 0; i < O2G_SECRET_SIZE; i++)
		sprintf(hex + 2 * i, "%02x", bytes[i]);
}

static int from_hex(const char *hex, unsigned char *bytes)
{
	unsigned byte;

	if (strlen(hex) != SECRET_HEX - 1)
		return -EPROTO;
	for (int i = 0; i < O2G_SECRET_SIZE; i++) {
		if (sscanf(hex + 2 * i, "%2x", &byte) != 1)
			return -EPROTO;
		bytes[i] = (unsigned char)byte;
	}
	return 0;
}

/* Rank 0 invents it; all know it after the barrier. */
static int agree_on_secret(int rank, unsigned char *secret)
{
	char hex[SECRET_HEX];
	int err;

	if (rank == 0) {
		if (getrandom(secret, O2G_SECRET_SIZE, 0) != O2G_SECRET_SIZE)
			return -errno;
		to_hex(secret, hex);
		err = pmi_put(SECRET_KEY, hex);
		if (err)
			return err;
	}
	err = pmi_barrier();
	if (err || rank == 0)
		return err;
	err = pmi_get(0, SECRET_KEY, hex, sizeof(hex));
	return err ? err : from_hex(hex, secret);
}

static void card_key(int rank, char key[32])
{
	snprintf(key, 32, "o2g-card-%d", rank);
}

static int resolve(void *arg, int rank, char *address, size_t size)
{
	char key[32];

	card_key(rank, key);
	return pmi_get(rank, key, address, size);
}

static int open_endpoint(struct pmi_job *job)
{
	struct o2g_attr attr = { .rank = job->rank,
				 .size = job->size,
				 .job = job->kvsname,
				 .resolve = resolve };
	char card[O2G_ADDRESS_MAX], key[32];
	int err;

	attr.local_size = (unsigned)job->local_size;
	err = agree_on_secret(job->rank, attr.secret);
	if (!err)
		err = o2g_open(&attr, &mpii.ep);
	explicit_bzero(attr.secret, sizeof(attr.secret));
	if (err)
		return err;
	err = o2g_address(mpii.ep, card, sizeof(card));
	if (err < 0)
		return err;
	card_key(job->rank, key);
	err = pmi_put(key, card);
	return err ? err : pmi_barrier();
}

int mpii_wireup(void)
{
	static struct pmi_job job; /* attr.job points into it */
	char who[MPI_MAX_PROCESSOR_NAME + 32];
	int err;

	if (gethostname(mpii.host, sizeof(mpii.host)))
		strcpy(mpii.host, "localhost");
	mpii.host[sizeof(mpii.host) - 1] = '\0';
	err = pmi_init(&job);
	if (err)
		return err;
	mpii.rank = job.rank;
	mpii.size = job.size;
	mpii.appnum = job.appnum;
	mpii.universe_size = job.universe_size;
	snprintf(who, sizeof(who), "rank %d on %s", job.rank, mpii.host);
	o2g_log_set_who(who);
	err = open_endpoint(&job);
	if (err)
		o2g_error("cannot join the job: %s", o2g_strerror(err));
	return err;
}

void mpii_wiredown(void)
{
	o2g_close(mpii.ep);
	mpii.ep = NULL;
	pmi_finalize();
}
