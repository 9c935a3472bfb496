/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/* Memory, locks, workers, and the process whose calls these are. */
#include "unit.h"

#include <stdio.h>
#include <stdlib.h>

#include "mock.h"

struct mock mock;
struct mm_struct mock_mm, mock_other_mm;
struct net mock_net, mock_other_net;
unsigned long jiffies;

static struct nsproxy nsproxy = { .net_ns = &mock_net };
static struct pid pid = { .number = 4711 };
static struct signal_struct group = { .live = { 1 } };
static struct task_struct process = { .nsproxy = &nsproxy,
				      .tgid = &pid,
				      .signal = &group };
static struct task_struct worker;
struct task_struct *mock_task = &process;

/* What is allocated, and by whom; what is pinned. */
#define MAX_LIVE 16384
static struct {
	void *p;
	const char *who;
	size_t size;
	bool cached; /* of a kmem_cache */
} live[MAX_LIVE];
static int live_end; /* those from here on were never used */
static struct page *pinned[MAX_LIVE];
static struct mem_cgroup cgroup, *active_cgroup;
static struct work_struct *first_work, **last_work = &first_work;

void mock_bug(const char *what, const char *who)
{
	fail_msg("%s: %s (call %u failed: %s in %s)", who, what, mock.fail_at,
		 mock.failed ? mock.failed : "none",
		 mock.failed_in ? mock.failed_in : "none");
}

bool mock_fails(const char *what, const char *who, int err)
{
	if (++mock.calls != mock.fail_at)
		return false;
	mock.failed = what;
	mock.failed_in = who;
	mock.failed_err = err;
	return true;
}

void mock_may_sleep(const char *who)
{
	if (mock.spins || mock.rcu || mock.atomic || mock.softirq)
		mock_bug("sleeps where it may not", who);
}

/* --- a world, from start to end --- */

void mock_start(unsigned int fail_at)
{
	mock = (struct mock){ .fail_at = fail_at,
			      .send_space = 64 << 10,
			      .ram = 1 << 20,
			      .privileged = true };
	mock_mm = mock_other_mm = (struct mm_struct){ .count = 1, .users = 1 };
	mock_net.refs = mock_other_net.refs = 1;
	cgroup.refs = 0;
	active_cgroup = NULL;
	pid.refs = 1;
	memset(live, 0, sizeof(live));
	memset(pinned, 0, sizeof(pinned));
	first_work = NULL;
	last_work = &first_work;
	mock_as(&mock_mm, 1000);
}

void mock_as(struct mm_struct *mm, unsigned int uid)
{
	process.mm = mm;
	process.uid.val = uid;
	mock_task = &process;
}

void mock_end(void)
{
	for (int i = 0; i < MAX_LIVE && mock.live; i++)
		if (live[i].p)
			mock_bug("what it has allocated is left", live[i].who);
	if (mock.spins || mock.mutexes || mock.rcu || mock.atomic ||
	    mock.softirq)
		mock_bug("a lock is held", "at the end");
	if (mock.pinned || mock.charged || mock_mm.locked || mock.maps)
		mock_bug("memory is pinned or charged", "at the end");
	if (mock_mm.count != 1 || mock_mm.users > 1 || mock_net.refs != 1 ||
	    pid.refs != 1 || cgroup.refs || active_cgroup)
		mock_bug("a reference is left", "at the end");
	if (first_work || mock_timers())
		mock_bug("work is queued", "at the end");
	if (mock.socks || mock.creds)
		mock_bug("a socket is open, or somebody's rights are held",
			 "at the end");
}

/* --- memory --- */

struct mem_cgroup *get_mem_cgroup_from_mm(struct mm_struct *mm)
{
	cgroup.refs++;
	return &cgroup;
}

void mem_cgroup_put(struct mem_cgroup *memcg)
{
	memcg->refs--;
}

struct mem_cgroup *set_active_memcg(struct mem_cgroup *memcg)
{
	struct mem_cgroup *before = active_cgroup;

	active_cgroup = memcg;
	return before;
}

/* Somebody pays for everything, once there are users. */
void mock_charged(gfp_t gfp, const char *who)
{
	bool in_call = !mock.softirq && !mock.atomic && current == &process;

	if (!mock.in_use)
		return;
	if (!(gfp & __GFP_ACCOUNT))
		mock_bug("allocates what nobody pays for", who);
	if (!active_cgroup && !in_call)
		mock_bug("does not say who pays", who);
}

static bool refuses(size_t n, gfp_t gfp, const char *who)
{
	bool of_others = gfp & GFP_NOWAIT || current == &worker;

	if (gfp & __GFP_NOFAIL)
		return false;
	if (mock_fails("allocation", who, -ENOMEM))
		return true;
	if (mock.refuse && of_others) {
		mock.refuse--;
		return true;
	}
	return mock.refuse_longer && n > mock.refuse_longer && of_others;
}

void *mock_alloc(size_t n, gfp_t gfp, bool zero, const char *who)
{
	void *p;
	int i = 0;

	if (gfp & (GFP_KERNEL | GFP_NOFS | GFP_NOIO))
		mock_may_sleep(who);
	mock_charged(gfp, who);
	if (refuses(n, gfp, who))
		return NULL;
	mock.largest = max(mock.largest, n);
	/* What is long begins with a page: a page is its address. */
	p = n < PAGE_SIZE ? malloc(n) : NULL;
	if (!p && posix_memalign(&p, PAGE_SIZE, n))
		return NULL;
	memset(p, zero ? 0 : 0xa5, n);
	while (live[i].p && i < MAX_LIVE - 1)
		i++;
	live[i].p = p;
	live[i].who = who;
	live[i].size = n;
	live[i].cached = false;
	live_end = max(live_end, i + 1);
	mock.live++;
	mock.bytes += n;
	return p;
}

void mock_free(const void *p)
{
	int i = 0;

	if (!p)
		return;
	while (i < MAX_LIVE && live[i].p != p)
		i++;
	if (i == MAX_LIVE)
		mock_bug("frees what is not allocated", __func__);
	live[i].p = NULL;
	mock.live--;
	mock.bytes -= live[i].size;
	free((void *)(uintptr_t)p);
}

void *mock_cache_alloc(const struct kmem_cache *c, gfp_t gfp, const char *who)
{
	void *p = mock_alloc(c->size, gfp | __GFP_ACCOUNT, false, who);

	for (int i = 0; p && i < live_end; i++)
		live[i].cached |= live[i].p == p;
	return p;
}

struct kmem_cache *mock_cache(size_t size, const char *who)
{
	struct kmem_cache *c = mock_alloc(sizeof(*c), GFP_KERNEL, true, who);

	if (c)
		c->size = size;
	return c;
}

void mmgrab(struct mm_struct *mm)
{
	mm->count++;
}

void mmdrop(struct mm_struct *mm)
{
	mm->count--;
}

bool mmget_not_zero(struct mm_struct *mm)
{
	if (!mm->users || mock_fails("the process is dead", __func__, 0))
		return false;
	mm->users++;
	return true;
}

void mmput(struct mm_struct *mm)
{
	mock_may_sleep(__func__);
	mm->users--;
}

void kthread_use_mm(struct mm_struct *mm)
{
	if (current != &worker)
		mock_bug("is for workers", __func__);
	worker.mm = mm;
}

void kthread_unuse_mm(struct mm_struct *mm)
{
	if (worker.mm != mm)
		mock_bug("is not in use", __func__);
	worker.mm = NULL;
}

static bool is_killable, is_killed;

void allow_kernel_signal(int sig)
{
	if (current != &worker || is_killable)
		mock_bug("is for workers, once", __func__);
	is_killable = true;
}

void disallow_signal(int sig)
{
	if (current != &worker || !is_killable)
		mock_bug("was not allowed", __func__);
	is_killable = is_killed = false;
}

/* There is one thread: a worker that waits is met in a callback only. */
int send_sig(int sig, struct task_struct *t, int priv)
{
	if (!mock.may_kill || t != &worker || !is_killable)
		mock_bug("a worker is left", __func__);
	mock.kills++;
	is_killed = true;
	return 0;
}

void mock_process_ends(bool ends)
{
	process.flags = ends ? PF_EXITING : 0;
	group.live.n = !ends;
	process.mm = ends ? NULL : &mock_mm;
}

int account_locked_vm(struct mm_struct *mm, unsigned long pages, bool inc)
{
	mock_may_sleep(__func__);
	if (inc && mock_fails(__func__, __func__, -ENOMEM))
		return -ENOMEM;
	mm->locked += inc ? (long)pages : -(long)pages;
	return 0;
}

bool mock_pins_move(void)
{
	return mock.pins_move;
}

int pin_user_pages_fast(unsigned long start, int n, unsigned int flags,
			struct page **pages)
{
	int i, at = 0;

	mock.pin_flags = flags;
	mock_may_sleep(__func__);
	if (start < MOCK_BAD || mock_fails("pinning", __func__, 0))
		return -EFAULT;
	if (mock.pin_at_most)
		n = min_t(int, n, mock.pin_at_most);
	for (i = 0; i < n; i++) {
		while (pinned[at] && at < MAX_LIVE - 1)
			at++;
		pages[i] = (struct page *)(start + i * PAGE_SIZE);
		pinned[at] = pages[i];
		mock.pinned++;
	}
	return n;
}

static bool is_pinned(const struct page *page, int *at)
{
	for (*at = 0; *at < MAX_LIVE; ++*at)
		if (pinned[*at] == page)
			return true;
	return false;
}

void unpin_user_pages_dirty_lock(struct page **pages, unsigned long n,
				 bool dirty)
{
	int at;

	mock_may_sleep(__func__);
	while (n--) {
		if (!is_pinned(pages[n], &at))
			mock_bug("it is not pinned", __func__);
		pinned[at] = NULL;
		mock.pinned--;
		mock.dirtied += dirty;
	}
}

int mm_account_pinned_pages(struct mmpin *p, size_t size)
{
	if (mock.no_pins || mock_fails("pinning", __func__, 0))
		return -ENOBUFS;
	p->user = &process;
	p->num_pg += size / PAGE_SIZE;
	mock.charged += size / PAGE_SIZE;
	return 0;
}

void mm_unaccount_pinned_pages(struct mmpin *p)
{
	if (p->user)
		mock.charged -= p->num_pg;
}

long pin_user_pages_remote(struct mm_struct *mm, unsigned long start,
			   unsigned long n, unsigned int flags,
			   struct page **pages, int *locked)
{
	if (!mm->users)
		return -EFAULT;
	return pin_user_pages_fast(start, (int)n, flags, pages);
}

unsigned int memalloc_nofs_save(void)
{
	bool before = mock.nofs;

	mock.nofs = true;
	return before;
}

void memalloc_nofs_restore(unsigned int before)
{
	mock.nofs = before;
}

long wait_for_completion_killable_timeout(struct completion *c, long left)
{
	mock_may_sleep(__func__);
	while (!c->done)
		if (!mock_run())
			return mock.signal ? -EINTR : 0;
	return left;
}

void *vmap(struct page **pages, unsigned int n, unsigned long flags, int prot)
{
	mock_may_sleep(__func__);
	if (mock_fails(__func__, __func__, 0))
		return NULL;
	mock.maps++;
	return pages[0];
}

void vunmap(const void *p)
{
	mock_may_sleep(__func__);
	if (p)
		mock.maps--;
}

void *kmap_local_page(struct page *page)
{
	int unused;

	if (!mock.own_pages && !is_pinned(page, &unused))
		mock_bug("the page is not pinned", __func__);
	return page;
}

void vm_flags_set(struct vm_area_struct *vma, unsigned long flags)
{
	vma->vm_flags |= flags;
}

void vm_flags_clear(struct vm_area_struct *vma, unsigned long flags)
{
	vma->vm_flags &= ~flags;
}

bool in_compat_syscall(void)
{
	return mock.compat;
}

unsigned long totalram_pages(void)
{
	return mock.ram;
}

int vm_insert_page(struct vm_area_struct *vma, unsigned long addr,
		   struct page *page)
{
	if (addr != vma->vm_start)
		return 0;
	if (mock_fails(__func__, __func__, -EAGAIN))
		return -EAGAIN;
	vma->mapped = (char *)page;
	return 0;
}

/* --- the process's memory --- */

bool access_ok(const void *p, size_t n)
{
	return (uintptr_t)p + n >= n && (uintptr_t)p + n < 1ul << 47;
}

static bool faults(const void *user, const char *who)
{
	mock_may_sleep(who);
	if (current->mm != &mock_mm && current->mm != &mock_other_mm)
		mock_bug("there is no process here", who);
	return (uintptr_t)user < MOCK_BAD || mock_fails("fault", who, -EFAULT);
}

unsigned long copy_from_user(void *to, const void *from, unsigned long n)
{
	if (!n)
		return 0;
	if (faults(from, __func__))
		return n;
	memcpy(to, from, n);
	return 0;
}

unsigned long copy_to_user(void *to, const void *from, unsigned long n)
{
	if (!n)
		return 0;
	if (faults(to, __func__))
		return n;
	memcpy(to, from, n);
	return 0;
}

unsigned long clear_user(void *to, unsigned long n)
{
	if (!n)
		return 0;
	if (faults(to, __func__))
		return n;
	memset(to, 0, n);
	return 0;
}

int copy_struct_from_user(void *to, size_t size, const void *from, size_t n)
{
	if (faults(from, __func__))
		return -EFAULT;
	for (size_t i = size; i < n; i++)
		if (((const char *)from)[i])
			return -E2BIG;
	memset(to, 0, size);
	memcpy(to, from, min(size, n));
	return 0;
}

static void iter_init(struct iov_iter *i, int type, unsigned int direction,
		      const void *list, unsigned long nr, size_t n)
{
	*i = (struct iov_iter){ .type = type,
				.direction = direction,
				.list = list,
				.nr = nr,
				.count = n };
}

void iov_iter_init(struct iov_iter *i, unsigned int direction,
		   const struct iovec *iov, unsigned long nr, size_t n)
{
	iter_init(i, MOCK_USER, direction, iov, nr, n);
}

void iov_iter_bvec(struct iov_iter *i, unsigned int direction,
		   const struct bio_vec *bvec, unsigned long nr, size_t n)
{
	iter_init(i, MOCK_BVEC, direction, bvec, nr, n);
}

void iov_iter_kvec(struct iov_iter *i, unsigned int direction,
		   const struct kvec *kvec, unsigned long nr, size_t n)
{
	iter_init(i, MOCK_KVEC, direction, kvec, nr, n);
}

void iov_iter_advance(struct iov_iter *i, size_t n)
{
	if (n > i->count)
		mock_bug("beyond its end", __func__);
	i->off += n;
	i->count -= n;
}

/* One element of the list: where it is, and how long. */
static void *element(const struct iov_iter *i, unsigned long at, size_t *len)
{
	const struct bio_vec *bv = i->list;
	const struct iovec *iov = i->list; /* a kvec looks the same */
	int unused;

	if (i->type != MOCK_BVEC) {
		*len = iov[at].iov_len;
		return iov[at].iov_base;
	}
	if (!mock.own_pages && !is_pinned(bv[at].bv_page, &unused))
		mock_bug("a page that is not pinned is used", __func__);
	*len = bv[at].bv_len;
	return (char *)bv[at].bv_page + bv[at].bv_offset;
}

static void *iter_at(const struct iov_iter *i, size_t *len)
{
	size_t off = i->off;
	unsigned long at;

	for (at = 0; at < i->nr; at++) {
		char *p = element(i, at, len);

		if (off < *len) {
			*len -= off;
			return p + off;
		}
		off -= *len;
	}
	mock_bug("beyond the list", __func__);
	return NULL;
}

static size_t iter_copy(struct iov_iter *i, char *k, size_t n,
			unsigned int direction)
{
	size_t done = 0;

	if (i->direction != direction)
		mock_bug("the wrong direction", __func__);
	n = min(n, i->count);
	while (done < n) {
		size_t len;
		char *p = iter_at(i, &len);

		len = min(len, n - done);
		if (i->type == MOCK_USER && faults(p, __func__))
			break;
		if (direction == ITER_DEST)
			memcpy(p, k + done, len);
		else
			memcpy(k + done, p, len);
		done += len;
		mock.copied += len;
		iov_iter_advance(i, len);
	}
	return done;
}

/* The kernel lets nothing out of caches that are not meant for it (usercopy_abort). */
static bool is_cached(const char *p)
{
	for (int i = 0; i < live_end; i++)
		if (live[i].p && live[i].cached && p >= (char *)live[i].p &&
		    p < (char *)live[i].p + live[i].size)
			return true;
	return false;
}

size_t copy_to_iter(const void *from, size_t n, struct iov_iter *i)
{
	if (n && is_cached(from))
		mock_bug("it copies out of a cache", __func__);
	return _copy_to_iter(from, n, i);
}

size_t _copy_to_iter(const void *from, size_t n, struct iov_iter *i)
{
	return iter_copy(i, (char *)(uintptr_t)from, n, ITER_DEST);
}

size_t copy_from_iter(void *to, size_t n, struct iov_iter *i)
{
	return iter_copy(i, to, n, ITER_SOURCE);
}

bool copy_from_iter_full(void *to, size_t n, struct iov_iter *i)
{
	return copy_from_iter(to, n, i) == n;
}

size_t copy_page_to_iter(struct page *page, size_t off, size_t n,
			 struct iov_iter *i)
{
	int unused;

	if (!mock.own_pages && !is_pinned(page, &unused))
		mock_bug("the page is not pinned", __func__);
	if (mock.on_copy) {
		void (*f)(void) = mock.on_copy;

		mock.on_copy = NULL;
		f();
	}
	return copy_to_iter((char *)page + off, n, i);
}

/* --- bitmaps --- */

static bool bit(const unsigned long *map, unsigned long n)
{
	return map[n / BITS_PER_LONG] >> (n % BITS_PER_LONG) & 1;
}

static unsigned long find_next(const unsigned long *map, unsigned long size,
			       unsigned long at, bool value)
{
	for (; at < size && test_bit(at, map) != value; at++)
		mock.searched++;
	return min(at, size);
}

unsigned long find_next_bit(const unsigned long *map, unsigned long size,
			    unsigned long at)
{
	return find_next(map, size, at, true);
}

unsigned long find_next_zero_bit(const unsigned long *map, unsigned long size,
				 unsigned long at)
{
	return find_next(map, size, at, false);
}

void bitmap_set(unsigned long *map, unsigned int start, unsigned int n)
{
	for (; n--; start++) {
		if (bit(map, start))
			mock_bug("it was set", __func__);
		map[start / BITS_PER_LONG] |= BIT(start % BITS_PER_LONG);
	}
}

void bitmap_clear(unsigned long *map, unsigned int start, unsigned int n)
{
	for (; n--; start++) {
		if (!bit(map, start))
			mock_bug("it was clear", __func__);
		map[start / BITS_PER_LONG] &= ~BIT(start % BITS_PER_LONG);
	}
}

/* --- waiting --- */

void mock_waits(const char *who)
{
	if (++mock.waits > 10000)
		mock_bug("waits for ever", who);
	if (mock.on_wait)
		mock.on_wait();
}

/* --- locks --- */

/*
 * How long softirqs are kept waiting: in calls of functions of the driver and the core,
 * which are compiled so that each tells.
 */
static unsigned long steps, held_since;

__attribute__((no_instrument_function)) void
__cyg_profile_func_enter(void *func, void *caller)
{
	steps++;
}

__attribute__((no_instrument_function)) void
__cyg_profile_func_exit(void *func, void *caller)
{
}

void mock_hold(void)
{
	if (!mock.holds++)
		held_since = steps;
}

void mock_let_go(void)
{
	if (!--mock.holds)
		mock.longest = max(mock.longest, steps - held_since);
}

static void held(void)
{
	mock.spins++;
	mock_hold();
}

static void released(void)
{
	mock.spins--;
	mock_let_go();
}

void mock_spin_lock(spinlock_t *l, const char *who)
{
	if (l->held)
		mock_bug("takes a lock that it has", who);
	l->held = true;
	held();
}

void local_bh_disable(void)
{
	held();
}

void local_bh_enable(void)
{
	released();
}

void mock_spin_unlock(spinlock_t *l, const char *who)
{
	if (!l->held)
		mock_bug("releases a lock that it has not", who);
	l->held = false;
	released();
}

void mutex_lock(struct mutex *m)
{
	mock_may_sleep(__func__);
	if (m->held)
		mock_bug("it is held", __func__);
	m->held = true;
	mock.mutexes++;
}

void mutex_unlock(struct mutex *m)
{
	if (!m->held)
		mock_bug("it is not held", __func__);
	m->held = false;
	mock.mutexes--;
}

void rcu_read_lock(void)
{
	mock.rcu++;
}

void rcu_read_unlock(void)
{
	mock.rcu--;
}

void synchronize_rcu(void)
{
	mock_may_sleep(__func__);
}

/* --- workers, and waiting for them --- */

struct workqueue_struct *alloc_workqueue(const char *name, unsigned int flags,
					 int max)
{
	mock.workers = (unsigned int)max;
	return mock_alloc(sizeof(struct workqueue_struct), GFP_KERNEL_ACCOUNT,
			  true, __func__);
}

void destroy_workqueue(struct workqueue_struct *wq)
{
	for (struct work_struct *w = first_work; w; w = w->next)
		if (w->wq == wq)
			mock_bug("there is work", __func__);
	mock_free(wq);
}

bool queue_work(struct workqueue_struct *wq, struct work_struct *w)
{
	if (w->pending)
		return false;
	w->pending = true;
	w->wq = wq;
	w->next = NULL;
	*last_work = w;
	last_work = &w->next;
	return true;
}

bool cancel_work_sync(struct work_struct *w)
{
	struct work_struct **p = &first_work;

	mock_may_sleep(__func__);
	if (!w->pending)
		return false;
	while (*p != w)
		p = &(*p)->next;
	*p = w->next;
	if (last_work == &w->next)
		last_work = p;
	w->pending = false;
	return true;
}

static struct work_struct *next_work(void)
{
	struct work_struct *w, *found = NULL;

	for (w = first_work; w && (mock.lifo || !found); w = w->next)
		if (!w->wq->blocked)
			found = w;
	return found;
}

static bool run_work(void)
{
	struct task_struct *before = mock_task;
	struct work_struct *w = next_work();

	if (!w)
		return false;
	cancel_work_sync(w);
	mock_task = &worker;
	worker.mm = NULL;
	w->func(w);
	if (worker.mm)
		mock_bug("keeps the process's memory", "a worker");
	mock_task = before;
	return true;
}

bool mock_run(void)
{
	unsigned int turns = 0;

	mock_may_sleep(__func__);
	while (mock_net_run() || run_work())
		if (++turns > 10000)
			mock_bug("it never ends", __func__);
	return turns;
}

void cond_resched(void)
{
	mock_may_sleep(__func__);
	mock.rests++;
}

void schedule(void)
{
	mock_may_sleep(__func__);
	if (!mock_run())
		mock.signal = true;
}

bool mock_signal_pending(void)
{
	bool is = mock.signal;

	if (current == &worker)
		return is_killed;
	mock.signal = false;
	return is;
}

long schedule_timeout(long left)
{
	mock_may_sleep(__func__);
	jiffies++;
	return mock_run() ? left : 0;
}

long schedule_timeout_interruptible(long left)
{
	return schedule_timeout(left);
}

/* The one who asks, once something has killed it. */
bool mock_is_dying(void)
{
	return mock.dying;
}

long schedule_timeout_killable(long left)
{
	mock_waits(__func__);
	return schedule_timeout(left);
}

/* --- names, rights, the device --- */

struct pid *get_pid(struct pid *p)
{
	p->refs++;
	return p;
}

void put_pid(struct pid *p)
{
	p->refs--;
}

/* A user's group has the user's number. */
const struct cred *current_cred(void)
{
	static struct cred cred;
	kuid_t uid = current->uid;

	cred = (struct cred){ uid, uid, uid, uid, uid, uid, NULL };
	if (mock.setuid)
		cred.euid.val = 0;
	return &cred;
}

/* Processes do not change theirs here, so that a number is enough: creds are counted. */
const struct cred *get_current_cred(void)
{
	struct cred *copy = malloc(sizeof(*copy));

	*copy = *current_cred();
	mock.creds++;
	return copy;
}

void put_cred(const struct cred *cred)
{
	mock.creds--;
	free((void *)cred);
}

bool ns_capable(const struct user_namespace *ns, int cap)
{
	return mock.privileged;
}

struct net *get_net(struct net *net)
{
	net->refs++;
	return net;
}

void put_net(struct net *net)
{
	net->refs--;
}

u64 get_random_u64(void)
{
	return 0x9e3779b97f4a7c15;
}

int misc_register(struct miscdevice *d)
{
	return mock_fails(__func__, __func__, -EBUSY) ? -EBUSY : 0;
}

void misc_deregister(struct miscdevice *d)
{
}
