/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * From a process to a rank, in two steps.
 *
 * Wiring up is local: ask the launcher who we are and open the endpoint.
 *
 * Then others have to learn our address, from the launcher's board, and we read
 * theirs when they are first needed. Our own launcher shows at once what was put
 * there and knows a secret for the job, so whoever wants to talk meets only those it
 * wants to talk to. With other launchers nothing is seen before all ranks have
 * been in a barrier; there all meet, once, and also agree on the secret.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "clock.h"
#include "log.h"
#include "pmi.h"
#include "process/crash.h"
#include "process/gone.h"
#include "process/process.h"
#include "process/wireup.h"
#include "tools/state.h"

#define SECRET_HEX (2 * O2G_SECRET_SIZE + 1)
/* Between two looks at the board: from ... to. */
#define NAP_US 200
#define NAP_MAX_US 20000
#define ON_ITS_WAY_NS 10000000000ull

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

static int read_secret(unsigned char *secret)
{
	char hex[SECRET_HEX];
	int err = pmi_get(0, PMI_SECRET_KEY, hex, sizeof(hex));

	if (!err)
		err = from_hex(hex, secret);
	explicit_bzero(hex, sizeof(hex));
	return err;
}

static int invent_secret(unsigned char *secret)
{
	return getrandom(secret, O2G_SECRET_SIZE, 0) == O2G_SECRET_SIZE ?
		       0 :
		       -errno;
}

/* Rank 0 invents it; all know it after the barrier. */
static int agree_on_secret(void)
{
	unsigned char secret[O2G_SECRET_SIZE];
	char hex[SECRET_HEX];
	int err = 0;

	if (mpii.rank == 0) {
		err = invent_secret(secret);
		if (err)
			return err;
		to_hex(secret, hex);
		err = pmi_put(PMI_SECRET_KEY, hex);
	}
	if (!err)
		err = pmi_barrier();
	if (!err)
		err = read_secret(secret);
	if (!err)
		o2g_set_secret(mpii.ep, secret);
	explicit_bzero(secret, sizeof(secret));
	return err;
}

static void card_key(int rank, char key[32])
{
	snprintf(key, 32, "o2g-card-%d", rank);
}

static int read_card(int rank, char *card, size_t size)
{
	char key[32];

	card_key(rank, key);
	return pmi_get(rank, key, card, size);
}

static void nap(unsigned *us)
{
	usleep(*us);
	if (*us < NAP_MAX_US)
		*us *= 2;
}

/*
 * What the endpoint asks for, with its lock held, so without waiting. It asks for
 * one address at a time, and now and then for who has ended.
 */

/* -EINPROGRESS, or what the launcher says. */
static int read_soon(int owner, const char *key, char *text, size_t size)
{
	int err = pmi_answered(key, text, size);

	if (err != -EINVAL)
		return err;
	err = pmi_ask(owner, key);
	if (!err)
		err = pmi_answered(key, text, size);
	return err == -EBUSY ? -EINPROGRESS : err;
}

/* A rank that we have heard of from others has shared its address, but the news
 * of that may have been faster than the address. */
static int resolve(void *arg, int rank, char *address, size_t size)
{
	static int last = -1; /* with the endpoint's lock */
	static uint64_t until;
	char key[32];
	int err;

	if (rank != last) {
		last = rank;
		until = o2g_now_ns() + ON_ITS_WAY_NS;
	}
	card_key(rank, key);
	err = read_soon(rank, key, address, size);
	if (err == -ENOENT && pmi_shares() && o2g_now_ns() < until)
		return -EINPROGRESS;
	if (err != -EINPROGRESS)
		last = -1;
	return err;
}

/* The launcher numbers those who end while the job goes on. */
static int next_ended(void *arg, struct o2g_ended *e)
{
	static unsigned seen; /* with the endpoint's lock */
	char key[32], text[256];
	int err;

	snprintf(key, sizeof(key), "o2g-ended-%u", seen);
	err = read_soon(0, key, text, sizeof(text));
	if (err)
		return err == -EINPROGRESS ? err : -EAGAIN;
	seen++;
	return sscanf(text, "%d %d %63s %127[^\n]", &e->rank, &e->finished,
		      e->host, e->how) == 4 ?
		       0 :
		       -EPROTO;
}

static int open_endpoint(struct pmi_job *job)
{
	struct o2g_attr attr = { .rank = job->rank,
				 .size = job->size,
				 .job = job->kvsname,
				 .resolve = resolve };
	int err;

	attr.local_size = (unsigned)job->local_size;
	attr.ended = pmi_shares() ? next_ended : NULL;
	attr.lost = mpii_gone_note;
	attr.doomed = mpii_gone_doomed;
	/* nobody can use the invented one: our address is not known yet */
	err = pmi_shares() ? read_secret(attr.secret) :
			     invent_secret(attr.secret);
	if (!err)
		err = o2g_open(&attr, &mpii.ep);
	explicit_bzero(attr.secret, sizeof(attr.secret));
	return err;
}

static int show_card(void)
{
	char card[O2G_ADDRESS_MAX], key[32];
	int err = o2g_address(mpii.ep, card, sizeof(card));

	if (err < 0)
		return err;
	card_key(mpii.rank, key);
	return pmi_put(key, card);
}

int mpii_meet_all(void)
{
	int err = pmi_shares() ? 0 : agree_on_secret();

	if (!err)
		err = show_card();
	if (!err)
		err = pmi_barrier();
	if (err)
		o2g_error("cannot meet the other ranks: %s", o2g_strerror(err));
	return err;
}

int mpii_meet_share(void)
{
	int err = show_card();

	if (!err)
		err = pmi_share();
	if (err)
		o2g_error("cannot be found by other ranks: %s",
			  o2g_strerror(err));
	return err;
}

int mpii_meet_one(int rank)
{
	char card[O2G_ADDRESS_MAX];
	unsigned us = NAP_US;
	int err = read_card(rank, card, sizeof(card));

	if (err == -ENOENT)
		pmi_await(rank);
	while (err == -ENOENT) {
		nap(&us);
		err = read_card(rank, card, sizeof(card));
	}
	return err;
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
	mpii_crash_watch(who);
	err = open_endpoint(&job);
	if (err)
		o2g_error("cannot join the job: %s", o2g_strerror(err));
	else
		mpii_state_start();
	return err;
}

void mpii_wiredown(void)
{
	mpii_state_stop();
	o2g_close(mpii.ep);
	mpii.ep = NULL;
	pmi_finalize();
}
