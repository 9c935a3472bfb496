/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/* sources: tests/unit/ranks_fixture.c */
/* Where the memory is, and the card that says so. */
#include "ranks_fixture.h"
#include "shm/shm.h"

#include <dirent.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/wait.h>

/* --- where the memory is --- */

static int entries(const char *dir)
{
	DIR *d = opendir(dir);
	struct dirent *e;
	int n = 0;

	while (d && (e = readdir(d)))
		n += strcmp(e->d_name, ".") && strcmp(e->d_name, "..");
	if (d)
		closedir(d);
	return d ? n : -1;
}

static char dir[] = "/tmp/o2g-test-shm-XXXXXX";

static int make_dir(void **arg)
{
	strcpy(dir + strlen(dir) - 6, "XXXXXX");
	if (!mkdtemp(dir))
		return -1;
	setenv("O2G_SHM_DIR", dir, 1);
	return 0;
}

static int remove_dir(void **arg)
{
	unsetenv("O2G_SHM_DIR");
	umount(dir);
	return rmdir(dir);
}

static void no_names(void)
{
	CHECK(entries(dir) == 0);
	sleepy();
}

static void dir__has_no_names(void **arg)
{
	run_well(no_names, no_names);
}

/* A directory with room for the heads and not for the rings. */
static void no_room(void)
{
	struct chan_peer *p = chan_ep_peer(host_ep(ep), other_rank());

	CHECK(ep->chan->ops->connect(ep->chan, p, other_peer()->card) ==
	      -ENOSPC);
	CHECK(!p->link);
	CHECK(!host_round(ep, 0));
	meet(1);
}

static void dir__full(void **arg)
{
	if (mount("tmpfs", dir, "tmpfs", 0, "size=64k"))
		skip(); /* only root may */
	run_well(no_room, no_room);
}

/* Room for one head of two: the channel says why it cannot be used. */
static void dir__no_room_at_all(void **arg)
{
	pid_t pid;
	int s;

	if (mount("tmpfs", dir, "tmpfs", 0, "size=4k"))
		skip();
	pid = fork();
	if (!pid) {
		char why[256] = "";

		ep = rank_open(0);
		CHECK(!host_create(1, &shm_chan_ops, why, sizeof(why)));
		CHECK(strstr(why, dir) && strstr(why, "O2G_SHM_DIR"));
		host_destroy(ep, true);
		_exit(0);
	}
	assert_int_equal(waitpid(pid, &s, 0), pid);
	assert_int_equal(s, 0);
}

/*
 * Where /proc/PID/fd cannot be used the file has a name; it is gone after an
 * orderly end, and after a kill when the next one comes.
 */
static void reopen_named(void)
{
	u32 rank = ep->rank;

	host_destroy(ep, false);
	prctl(PR_SET_DUMPABLE, 0);
	ep = rank_open(rank);
	CHECK(!ep->chan->ops->card(ep->chan, shared->cards[rank],
				   sizeof(shared->cards[rank])));
	CHECK(strstr(shared->cards[rank], "path="));
}

static void named(void)
{
	reopen_named();
	meet(10);
	strcpy(other_peer()->card, shared->cards[other_rank()]);
	CHECK(entries(dir) == 2);
	CHECK(ep->chan->ops->reaches(ep->chan, other_peer()->card));
	meet(12);
}

static void named_kill(void)
{
	struct shm_where w;

	named();
	sleepy();
	meet(11);
	if (ep->rank == 1)
		kill(getpid(), SIGKILL);
	while (kill(((struct shm_link *)other_peer()->cp.link)->pid, 0) == 0)
		usleep(1000);
	CHECK(!shm_parse_card(other_peer()->card, &w) && !shm_seg_openable(&w));
}

static void dir__named_files_are_swept(void **arg)
{
	int status[2];

	run(named_kill, named_kill, status);
	assert_int_equal(status[0], 0);
	assert_int_equal(status[1], -SIGKILL);
	assert_int_equal(entries(dir), 1);
	run_well(named, named);
	assert_int_equal(entries(dir), 0);
}

/* Set to nothing: as if it were not set, and not the root of all files. */
static int empty_dir(void **arg)
{
	return setenv("O2G_SHM_DIR", "", 1);
}

static int unset_dir(void **arg)
{
	return unsetenv("O2G_SHM_DIR");
}

static void without_name(void)
{
	CHECK(!strstr(shared->cards[ep->rank], "path="));
	sleepy();
}

static void with_name(void)
{
	reopen_named();
	CHECK(strstr(shared->cards[ep->rank], "path=/dev/shm/o2g"));
}

static void dir__empty(void **arg)
{
	run_well(without_name, without_name);
	run_well(with_name, with_name);
}

/* --- cards --- */

static void cards_body(void)
{
	struct chan_peer *p = chan_ep_peer(host_ep(ep), 1);
	const struct chan_ops *ops = &shm_chan_ops;
	const char *good = other_peer()->card;
	char bad[1100];

	CHECK(ops->reaches(ep->chan, good));
	CHECK(!ops->reaches(ep->chan, "node=,pid=1,token=1,fd=1"));
	CHECK(!ops->reaches(ep->chan, "node=x,pid=1,token=1,fd=1"));
	snprintf(bad, sizeof(bad), "%s", good);
	bad[5]++; /* another node */
	CHECK(!ops->reaches(ep->chan, bad));
	snprintf(bad, sizeof(bad), "node=%s,pid=%d,token=1,fd=0", ep->node,
		 getppid());
	CHECK(ops->connect(ep->chan, p, bad) < 0);
	/* the right file, the wrong token */
	snprintf(bad, sizeof(bad), "%s", good);
	*strstr(bad, "token=") = '\0';
	strcat(bad, "token=1234,");
	strcat(bad, strstr(good, "fd="));
	CHECK(ops->connect(ep->chan, p, bad) == -EBADMSG);
	CHECK(!p->link);
	CHECK(host_peer(ep, 1));
	meet_at_work(1);
}

static void cards_peer(void)
{
	meet_at_work(1);
}

static void cards__checked(void **arg)
{
	run_well(cards_body, cards_peer);
}

#define TD(f) cmocka_unit_test_setup_teardown(f, make_dir, remove_dir)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TD(dir__has_no_names),
		TD(dir__full),
		TD(dir__no_room_at_all),
		TD(dir__named_files_are_swept),
		cmocka_unit_test_setup_teardown(dir__empty, empty_dir,
						unset_dir),
		T(cards__checked),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
