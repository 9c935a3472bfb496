/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * As much of the kernel as driver/ uses, for its files in a process: every
 * <linux/...> and <net/...> that they include leads here (see mock.mk). There is
 * one thread. Locks are flags that must not be taken twice, and what may sleep
 * checks that nothing forbids it. mock.h is what tests see of it.
 */
#ifndef MOCK_KERNEL_H
#define MOCK_KERNEL_H

#include <asm/byteorder.h>
#include <errno.h>
#include <limits.h>
#include <linux/ioctl.h>
#include <linux/types.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/types.h>
#include <sys/uio.h>

typedef __u8 u8;
typedef __u16 u16;
typedef __u32 u32;
typedef __u64 u64;
typedef __s32 s32;
typedef __s64 s64;
typedef unsigned int gfp_t;

/* --- the language --- */

#define KERNEL_VERSION(a, b, c) (((a) << 16) + ((b) << 8) + (c))
#define LINUX_VERSION_CODE KERNEL_VERSION(6, 12, 0)
#define __user
#define __init
#define __exit
#define EXPORT_SYMBOL_GPL(name) _Static_assert(1, #name)
#define BUILD_BUG_ON(cond) _Static_assert(!(cond), #cond)
#define sizeof_field(type, member) sizeof(((type *)0)->member)
#define __acquires(x)
#define __releases(x)
#define likely(x) (x)
#define unlikely(x) (x)
#define noinline __attribute__((__noinline__))
#undef static_assert
#define static_assert(cond, ...) _Static_assert(cond, #cond)
#define container_of(ptr, type, member) \
	((type *)((char *)(uintptr_t)(ptr)-offsetof(type, member)))
#define min(a, b) ((a) < (b) ? (a) : (b))
#define max(a, b) ((a) > (b) ? (a) : (b))
#define min_t(t, a, b) min((t)(a), (t)(b))
#define max_t(t, a, b) max((t)(a), (t)(b))
#define swap(a, b)                         \
	do {                               \
		__typeof__(a) swap_ = (a); \
		(a) = (b);                 \
		(b) = swap_;               \
	} while (0)
#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))
#define clamp_t(t, x, low, high) min_t(t, max_t(t, x, low), high)
#define BIT(n) (1ul << (n))
#define BIT_ULL(n) (1ull << (n))
#define U16_MAX UINT16_MAX
#define U32_MAX UINT32_MAX
#define S64_MAX INT64_MAX
#define BITS_PER_LONG 64
#define BITS_TO_LONGS(n) (((n) + BITS_PER_LONG - 1) / BITS_PER_LONG)
#define DIV_ROUND_UP(a, b) (((a) + (b)-1) / (b))
#define DIV_ROUND_UP_ULL(a, b) (((u64)(a) + (b)-1) / (b))
#define ilog2(n) ((unsigned int)__builtin_ctzl(n))
#define hash_64(v, bits) ((u32)((v)*0x61c8864680b583ebull >> (64 - (bits))))
#define is_power_of_2(n) ((n) && !((n) & ((n)-1)))
#define struct_size(p, member, n) (sizeof(*(p)) + (n) * sizeof((p)->member[0]))
#define check_add_overflow(a, b, to) __builtin_add_overflow(a, b, to)
#define cpu_to_le32(x) ((__le32)(x))
#define cpu_to_le64(x) ((__le64)(x))
#define le32_to_cpu(x) ((u32)(x))
#define le64_to_cpu(x) ((u64)(x))
#define READ_ONCE(x) (*(const volatile __typeof__(x) *)&(x))
#define data_race(x) (x)
#define WRITE_ONCE(x, v) (*(volatile __typeof__(x) *)&(x) = (v))
#define barrier() __asm__ volatile("" ::: "memory")
#define smp_mb() __sync_synchronize()
#define smp_wmb() __sync_synchronize()
#define smp_load_acquire(p) __atomic_load_n(p, __ATOMIC_ACQUIRE)
#define smp_store_release(p, v) __atomic_store_n(p, v, __ATOMIC_RELEASE)
#define u64_to_user_ptr(x) ((void *)(uintptr_t)(x))

/* Nothing that a test does may reach a warning of the driver's. */
#define WARN_ON_ONCE(cond)                         \
	({                                         \
		bool bad_ = (cond);                \
		if (bad_)                          \
			mock_bug(#cond, __func__); \
		bad_;                              \
	})
void mock_bug(const char *what, const char *who);

/* --- failing --- */

/*
 * Every call that may refuse asks this first; when its turn has come it fails.
 * @err is what the caller will get to see, for the test.
 */
bool mock_fails(const char *what, const char *who, int err);
void mock_may_sleep(const char *who);
void mock_charged(gfp_t gfp, const char *who);

/* --- lists, maps --- */

struct list_head {
	struct list_head *next, *prev;
};

#define LIST_HEAD(name) struct list_head name = { &name, &name }

static inline void INIT_LIST_HEAD(struct list_head *l)
{
	l->next = l;
	l->prev = l;
}

static inline bool list_empty(const struct list_head *l)
{
	return l->next == l;
}

static inline void list_add_tail(struct list_head *n, struct list_head *at)
{
	n->next = at;
	n->prev = at->prev;
	at->prev->next = n;
	at->prev = n;
}

static inline void list_add(struct list_head *n, struct list_head *at)
{
	list_add_tail(n, at->next);
}

static inline void list_del_init(struct list_head *n)
{
	n->prev->next = n->next;
	n->next->prev = n->prev;
	INIT_LIST_HEAD(n);
}

/* As in the kernel, whoever follows a link of what was removed falls. */
static inline void list_del(struct list_head *n)
{
	list_del_init(n);
	n->next = (void *)0x100;
	n->prev = (void *)0x122;
}

static inline void list_splice_init(struct list_head *from,
				    struct list_head *to)
{
	if (list_empty(from))
		return;
	from->prev->next = to->next;
	to->next->prev = from->prev;
	to->next = from->next;
	from->next->prev = to;
	INIT_LIST_HEAD(from);
}

/* @to takes the place of @from, whose links are as they were. */
static inline void list_replace(struct list_head *from, struct list_head *to)
{
	to->next = from->next;
	to->next->prev = to;
	to->prev = from->prev;
	to->prev->next = to;
}

static inline void list_move(struct list_head *n, struct list_head *at)
{
	list_del_init(n);
	list_add(n, at);
}

static inline void list_move_tail(struct list_head *n, struct list_head *at)
{
	list_del_init(n);
	list_add_tail(n, at);
}

#define list_empty_careful(l) list_empty(l)
#define list_is_first(n, head) ((n)->prev == (head))
#define list_is_last(n, head) ((n)->next == (head))
#define list_next_entry(pos, member) \
	list_entry((pos)->member.next, __typeof__(*(pos)), member)
#define list_prev_entry(pos, member) \
	list_entry((pos)->member.prev, __typeof__(*(pos)), member)
#define list_entry(p, type, member) container_of(p, type, member)
#define list_first_entry(l, type, member) list_entry((l)->next, type, member)
#define list_first_entry_or_null(l, type, member) \
	(list_empty(l) ? NULL : list_first_entry(l, type, member))
#define list_for_each_entry(pos, head, member)                       \
	for (pos = list_first_entry(head, __typeof__(*pos), member); \
	     &pos->member != (head);                                 \
	     pos = list_first_entry(&pos->member, __typeof__(*pos), member))
#define list_for_each_entry_safe(pos, n, head, member)                    \
	for (pos = list_first_entry(head, __typeof__(*pos), member),      \
	    n = list_first_entry(&pos->member, __typeof__(*pos), member); \
	     &pos->member != (head); pos = n,                             \
	    n = list_first_entry(&n->member, __typeof__(*n), member))

/* A tree that is not balanced: it is not large here. */
struct rb_node {
	struct rb_node *rb_left, *rb_right, *parent;
};
struct rb_root {
	struct rb_node *rb_node;
};
#define RB_ROOT ((struct rb_root){ NULL })
#define rb_entry_safe(p, type, member)                      \
	({                                                  \
		struct rb_node *n_ = (p);                   \
		n_ ? container_of(n_, type, member) : NULL; \
	})
static inline void rb_link_node(struct rb_node *n, struct rb_node *parent,
				struct rb_node **link)
{
	*n = (struct rb_node){ .parent = parent };
	*link = n;
}
#define rb_insert_color(n, root) ((void)(n), (void)(root))
struct rb_node *rb_first(const struct rb_root *root);
struct rb_node *rb_next(const struct rb_node *n);
struct rb_node *rb_prev(const struct rb_node *n);
void rb_erase(struct rb_node *n, struct rb_root *root);

/* Numbers and what they stand for, in order of age. */
struct xarray {
	struct mock_slot {
		unsigned long index;
		void *p; /* NULL: reserved */
		bool mark;
	} * slots;
	unsigned int n, room;
};
struct xa_limit {
	u32 max, min;
};
#define XA_FLAGS_ALLOC1 1
#define XA_FLAGS_LOCK_BH 2
#define XA_FLAGS_ACCOUNT 4
#define XA_MARK_0 0
#define XA_PRESENT 8
#define xa_limit_31b ((struct xa_limit){ .max = INT_MAX })
#define xa_init_flags(xa, flags) ((xa)->n = (xa)->room = 0, (xa)->slots = NULL)
#define xa_for_each(xa, number, to)                               \
	for (unsigned int at_ = 0;                                \
	     at_ < (xa)->n && ((number) = (xa)->slots[at_].index, \
			      (to) = (xa)->slots[at_].p, true);   \
	     (void)(number), at_++)
#define xa_for_each_marked(xa, number, to, which)                             \
	for ((number) = 0; ((to) = xa_find(xa, &(number), ULONG_MAX, which)); \
	     (number)++)
#define xa_mk_value(v) ((void *)((v) << 1 | 1ul))
#define xa_is_value(p) ((bool)((uintptr_t)(p)&1))
void *xa_find(struct xarray *xa, unsigned long *index, unsigned long max,
	      int mark);
void xa_set_mark(struct xarray *xa, unsigned long index, int mark);
int xa_reserve_bh(struct xarray *xa, unsigned long index, gfp_t gfp);
#define xa_err(p) ((p) == (void *)-2 ? -ENOMEM : 0)
void *xa_load(const struct xarray *xa, unsigned long index);
void *xa_store_bh(struct xarray *xa, unsigned long index, void *p, gfp_t gfp);
void *xa_erase_bh(struct xarray *xa, unsigned long index);
int xa_alloc_cyclic_bh(struct xarray *xa, u32 *index, void *p,
		       struct xa_limit limit, u32 *next, gfp_t gfp);
void xa_destroy(struct xarray *xa);

unsigned long find_next_bit(const unsigned long *map, unsigned long size,
			    unsigned long at);
unsigned long find_next_zero_bit(const unsigned long *map, unsigned long size,
				 unsigned long at);
void bitmap_set(unsigned long *map, unsigned int start, unsigned int n);
void bitmap_clear(unsigned long *map, unsigned int start, unsigned int n);
static inline bool test_bit(unsigned long n, const unsigned long *map)
{
	return map[n / BITS_PER_LONG] >> (n % BITS_PER_LONG) & 1;
}
static inline void __set_bit(unsigned long n, unsigned long *map)
{
	map[n / BITS_PER_LONG] |= 1ul << (n % BITS_PER_LONG);
}

/* --- memory --- */

#define PAGE_SHIFT 12
#define PAGE_SIZE 4096ul
#define PAGE_MASK (~(PAGE_SIZE - 1))
#define ALIGN(x, a) (((x) + (a)-1) & ~((__typeof__(x))(a)-1))
#define ALIGN_DOWN(x, a) ((x) & ~((__typeof__(x))(a)-1))
#define PAGE_ALIGN(x) (((x) + PAGE_SIZE - 1) & PAGE_MASK)
#define PAGE_ALIGNED(x) (!((x) & (PAGE_SIZE - 1)))
#define offset_in_page(x) ((unsigned long)(x) & (PAGE_SIZE - 1))

#define GFP_ATOMIC 1u
#define GFP_KERNEL 2u
#define __GFP_ACCOUNT 4u
#define GFP_NOWAIT 8u
#define __GFP_NORETRY 16u
#define GFP_KERNEL_ACCOUNT (GFP_KERNEL | __GFP_ACCOUNT)
#define __GFP_NOWARN 0u
#define GFP_NOFS 64u
#define GFP_NOIO 128u
/* What is allocated meanwhile must not be GFP_KERNEL for the file system's sake. */
unsigned int memalloc_nofs_save(void);
void memalloc_nofs_restore(unsigned int before);
#define memalloc_noio_save() memalloc_nofs_save()
#define memalloc_noio_restore(before) memalloc_nofs_restore(before)

void *mock_alloc(size_t n, gfp_t gfp, bool zero, const char *who);
void mock_free(const void *p);

#define kmalloc(n, gfp) mock_alloc(n, gfp, false, __func__)
#define kzalloc(n, gfp) mock_alloc(n, gfp, true, __func__)
#define kvmalloc_array(n, size, gfp) \
	mock_alloc((size_t)(n) * (size), gfp, false, __func__)
#define kvcalloc(n, size, gfp) \
	mock_alloc((size_t)(n) * (size), gfp, true, __func__)
#define __GFP_ZERO 32u
#define __GFP_NOFAIL 64u
#define __vmalloc(n, gfp) mock_alloc(n, gfp, (gfp)&__GFP_ZERO, __func__)
#define kfree(p) mock_free(p)
#define kvfree(p) mock_free(p)
#define vfree(p) mock_free(p)

struct mm_struct;
/* What pays. Whoever is not in a system call has to say so. */
struct mem_cgroup {
	int refs;
};
struct mem_cgroup *get_mem_cgroup_from_mm(struct mm_struct *mm);
void mem_cgroup_put(struct mem_cgroup *memcg);
struct mem_cgroup *set_active_memcg(struct mem_cgroup *memcg);

struct kmem_cache {
	size_t size;
};
struct kmem_cache *mock_cache(size_t size, const char *who);
#define KMEM_CACHE(type, flags) mock_cache(sizeof(struct type), __func__)
#define SLAB_ACCOUNT 1
#define kmem_cache_alloc(c, gfp) mock_cache_alloc(c, gfp, __func__)
void *mock_cache_alloc(const struct kmem_cache *c, gfp_t gfp, const char *who);
#define kmem_cache_free(c, p) mock_free(p)
#define kmem_cache_destroy(c) mock_free(c)

struct mm_struct {
	int count; /* who keeps the structure */
	int users; /* who keeps the memory; 0: the process is dead */
	long locked;
};
void mmgrab(struct mm_struct *mm);
void mmdrop(struct mm_struct *mm);
bool mmget_not_zero(struct mm_struct *mm);
void mmput(struct mm_struct *mm);
void kthread_use_mm(struct mm_struct *mm);
void kthread_unuse_mm(struct mm_struct *mm);
int account_locked_vm(struct mm_struct *mm, unsigned long pages, bool inc);

/* A page is its address. */
struct page;
struct mmpin {
	void *user;
	unsigned int num_pg;
};
#define FOLL_WRITE 1u
#define FOLL_LONGTERM 2u
bool mock_pins_move(void);
#define O2GK_READ_PINS_LAST (!mock_pins_move())
int pin_user_pages_fast(unsigned long start, int n, unsigned int flags,
			struct page **pages);
long pin_user_pages_remote(struct mm_struct *mm, unsigned long start,
			   unsigned long n, unsigned int flags,
			   struct page **pages, int *locked);
#define mmap_read_lock(mm) mock_may_sleep(__func__)
#define mmap_read_unlock(mm) ((void)(mm))
void unpin_user_pages_dirty_lock(struct page **pages, unsigned long n,
				 bool dirty);
int mm_account_pinned_pages(struct mmpin *p, size_t size);
void mm_unaccount_pinned_pages(struct mmpin *p);

/* Pages that follow each other are in one piece already. */
#define VM_MAP 4ul
#define PAGE_KERNEL 0
void *vmap(struct page **pages, unsigned int n, unsigned long flags, int prot);
void vunmap(const void *p);
void *kmap_local_page(struct page *page);
#define kunmap_local(p) ((void)(p))

#define VM_WRITE 2ul
#define VM_EXEC 4ul
#define VM_SHARED 8ul
#define VM_MAYWRITE 0x20ul
#define VM_MAYEXEC 0x40ul
#define VM_DONTCOPY 0x20000ul
#define VM_DONTEXPAND 0x40000ul
#define VM_DONTDUMP 0x4000000ul
struct vm_area_struct {
	unsigned long vm_start, vm_end, vm_pgoff, vm_flags;
	char *mapped; /* where the test finds it, as the driver does */
};
void vm_flags_set(struct vm_area_struct *vma, unsigned long flags);
void vm_flags_clear(struct vm_area_struct *vma, unsigned long flags);
#define vmalloc_to_page(p) ((struct page *)((uintptr_t)(p)&PAGE_MASK))
/* What is at odd pages is in one piece by its addresses only. */
#define virt_addr_valid(p) (!((uintptr_t)(p) >> PAGE_SHIFT & 1))
#define virt_to_page(p) vmalloc_to_page(p)
#define page_to_pfn(page) ((uintptr_t)(page) >> PAGE_SHIFT)
#define pfn_to_page(pfn) ((struct page *)((uintptr_t)(pfn) << PAGE_SHIFT))
int vm_insert_page(struct vm_area_struct *vma, unsigned long addr,
		   struct page *page);
unsigned long totalram_pages(void);

/* --- the process's memory: what lies below MOCK_BAD faults --- */

#define MOCK_BAD 65536ul
bool access_ok(const void *p, size_t n);
unsigned long copy_from_user(void *to, const void *from, unsigned long n);
unsigned long copy_to_user(void *to, const void *from, unsigned long n);
unsigned long clear_user(void *to, unsigned long n);
int copy_struct_from_user(void *to, size_t size, const void *from, size_t n);
#define get_user(x, p) (copy_from_user(&(x), p, sizeof(x)) ? -EFAULT : 0)
#define put_user(x, p)                                          \
	({                                                      \
		__typeof__(*(p)) x_ = (x);                      \
		copy_to_user(p, &x_, sizeof(x_)) ? -EFAULT : 0; \
	})
#define CONFIG_COMPAT 1
struct compat_iovec {
	u32 iov_base, iov_len;
};
#define compat_ptr(p) ((void *)(uintptr_t)(p))
bool in_compat_syscall(void);

enum { ITER_DEST, ITER_SOURCE };
struct kvec {
	void *iov_base;
	size_t iov_len;
};
struct bio_vec {
	struct page *bv_page;
	unsigned int bv_len, bv_offset;
};
struct iov_iter {
	enum { MOCK_KVEC, MOCK_BVEC, MOCK_USER } type;
	unsigned int direction;
	union {
		const void *list;
		const struct iovec *__iov;
		const struct kvec *kvec;
		const struct bio_vec *bvec;
		void *ubuf;
	};
	union {
		unsigned long nr, nr_segs;
	};
	union {
		size_t off, iov_offset; /* of the whole list */
	};
	size_t count; /* left */
};
#define iter_is_ubuf(i) ((void)(i), false)
#define iter_is_iovec(i) ((i)->type == MOCK_USER)
#define iov_iter_is_kvec(i) ((i)->type == MOCK_KVEC)
#define iov_iter_is_bvec(i) ((i)->type == MOCK_BVEC)
#define iter_iov(i) ((i)->__iov)
void iov_iter_init(struct iov_iter *i, unsigned int direction,
		   const struct iovec *iov, unsigned long nr, size_t n);
void iov_iter_bvec(struct iov_iter *i, unsigned int direction,
		   const struct bio_vec *bvec, unsigned long nr, size_t n);
void iov_iter_kvec(struct iov_iter *i, unsigned int direction,
		   const struct kvec *kvec, unsigned long nr, size_t n);
void iov_iter_advance(struct iov_iter *i, size_t n);
static inline size_t iov_iter_count(const struct iov_iter *i)
{
	return i->count;
}
size_t copy_to_iter(const void *from, size_t n, struct iov_iter *i);
size_t _copy_to_iter(const void *from, size_t n, struct iov_iter *i);
size_t copy_from_iter(void *to, size_t n, struct iov_iter *i);
bool copy_from_iter_full(void *to, size_t n, struct iov_iter *i);
size_t copy_page_to_iter(struct page *page, size_t off, size_t n,
			 struct iov_iter *i);

/* --- locks, waiting, workers --- */

typedef struct {
	bool held;
} spinlock_t;
typedef spinlock_t rwlock_t;
#define spin_lock_init(l) ((l)->held = false)
void mock_spin_lock(spinlock_t *l, const char *who);
void mock_spin_unlock(spinlock_t *l, const char *who);
#define spin_lock_bh(l) mock_spin_lock(l, __func__)
#define spin_lock(l) mock_spin_lock(l, __func__)
#define spin_unlock(l) mock_spin_unlock(l, __func__)
void local_bh_disable(void);
void local_bh_enable(void);
#define spin_unlock_bh(l) mock_spin_unlock(l, __func__)
#define write_lock_bh(l) mock_spin_lock(l, __func__)
#define write_unlock_bh(l) mock_spin_unlock(l, __func__)
#define lockdep_assert_held(l) \
	((l)->held ? (void)0 : mock_bug("the lock is not held", __func__))

struct mutex {
	bool held;
};
#define DEFINE_MUTEX(name) struct mutex name
#define mutex_init(m) ((m)->held = false)
void mutex_lock(struct mutex *m);
void mutex_unlock(struct mutex *m);

void rcu_read_lock(void);
void rcu_read_unlock(void);
void synchronize_rcu(void);

typedef struct {
	int n;
} atomic_t;
#define atomic_read(a) ((a)->n)
#define atomic_inc(a) ((a)->n++)
#define atomic_dec(a) ((a)->n--)

typedef struct {
	long n;
} atomic_long_t;
#define atomic_long_read(a) ((a)->n)
#define atomic_long_inc(a) ((void)(a)->n++)
#define atomic_long_add(v, a) ((void)((a)->n += (v)))
#define atomic_long_sub(v, a) ((void)((a)->n -= (v)))

typedef struct {
	int n;
} refcount_t;
#define refcount_set(r, v) ((r)->n = (v))
#define refcount_inc(r) \
	((r)->n > 0 ? (void)(r)->n++ : mock_bug("is gone", __func__))
#define refcount_dec_and_test(r) (--(r)->n == 0)
#define refcount_inc_not_zero(r) ((r)->n ? ((r)->n++, true) : false)

struct rcu_head {
	int unused;
};
#define kfree_rcu(p, member) mock_free(((void)&(p)->member, (p)))

typedef struct {
	int wakes;
} wait_queue_head_t;
#define TASK_INTERRUPTIBLE 1
#define MAX_SCHEDULE_TIMEOUT LONG_MAX
#define DEFINE_WAIT(name) int name = 0
#define init_waitqueue_head(w) ((w)->wakes = 0)
#define wake_up_interruptible_poll(w, events) ((w)->wakes++)
/* There is one thread: whoever waits for another waits forever. */
#define wait_var_event(var, cond)                               \
	do {                                                    \
		mock_may_sleep(__func__);                       \
		if (!(cond))                                    \
			mock_bug("waits for itself", __func__); \
	} while (0)
#define wake_up_var(var) ((void)(var))
#define wake_up_all(w) ((w)->wakes++)
/* Others get on meanwhile; when nobody can, it is forever. */
#define wait_event(w, cond)                                          \
	do {                                                         \
		mock_may_sleep(__func__);                            \
		while (!(cond))                                      \
			if (!mock_run())                             \
				mock_bug("waits forever", __func__); \
	} while (0)
#define wait_event_timeout(w, cond, left) \
	({                                \
		wait_event(w, cond);      \
		(left);                   \
	})

struct completion {
	bool done;
};
#define init_completion(c) ((c)->done = false)
#define DECLARE_COMPLETION_ONSTACK(name) struct completion name = { false }
static inline void complete(struct completion *c)
{
	c->done = true;
}
#define complete_all(c) complete(c)
#define wait_for_completion(c) wait_event(c, (c)->done)
/* A signal, when the test says that there is one; else time passes. */
long wait_for_completion_killable_timeout(struct completion *c, long left);
#define prepare_to_wait_exclusive(w, entry, state) ((void)*(entry))
#define finish_wait(w, entry) ((void)*(entry))
#define wake_up_interruptible(w) ((w)->wakes++)
#define wq_has_sleeper(w) ((void)(w), true)
#define prepare_to_wait(w, entry, state) ((void)*(entry))
/* Others get on meanwhile; when nobody can, there is a signal. */
void schedule(void);
bool mock_signal_pending(void);
#define signal_pending(task) mock_signal_pending()
#define wait_event_interruptible_exclusive(w, cond) \
	({                                          \
		while (!(cond) && mock_run())       \
			;                           \
		(cond) ? 0 : -EINTR;                \
	})
bool mock_run(void);
/* Others get on meanwhile; 0 when they cannot. */
long schedule_timeout(long left);
long schedule_timeout_interruptible(long left);
long schedule_timeout_killable(long left);
bool mock_is_dying(void);
#define fatal_signal_pending(task) ((void)(task), mock_is_dying())
/* It is a worker that waits, and there is but one thread. */
#define schedule_timeout_uninterruptible(n) \
	(mock_may_sleep(__func__), mock_waits(__func__), jiffies += (n))
void mock_waits(const char *who);
void cond_resched(void);
extern unsigned long jiffies;
#define msecs_to_jiffies(ms) ((unsigned long)(ms) / 4)
#define time_after(a, b) ((long)((b) - (a)) < 0)

struct work_struct {
	void (*func)(struct work_struct *w);
	bool pending;
	struct work_struct *next;
	struct workqueue_struct *wq;
};
struct workqueue_struct {
	bool blocked; /* by a test: all its workers wait */
};
#define WQ_UNBOUND 2
#define WQ_MEM_RECLAIM 8
#define INIT_WORK(w, f) ((w)->func = (f), (w)->pending = false)
struct workqueue_struct *alloc_workqueue(const char *name, unsigned int flags,
					 int max);
#define alloc_ordered_workqueue(name, flags) alloc_workqueue(name, flags, 1)
void destroy_workqueue(struct workqueue_struct *wq);
bool queue_work(struct workqueue_struct *wq, struct work_struct *w);
bool cancel_work_sync(struct work_struct *w);

/* --- tasks, names, rights --- */

struct net {
	int refs;
};
struct nsproxy {
	struct net *net_ns;
};
struct pid {
	int number, refs;
};
typedef struct {
	unsigned int val;
} kuid_t;
typedef kuid_t kgid_t;
struct user_namespace;
struct cred {
	kuid_t uid, euid, suid;
	kgid_t gid, egid, sgid;
	struct user_namespace *user_ns;
};
const struct cred *current_cred(void);
const struct cred *get_current_cred(void);
void put_cred(const struct cred *cred);
#define PF_EXITING 4
#define SIGKILL 9
struct signal_struct {
	atomic_t live;
};
struct task_struct {
	unsigned int flags;
	struct signal_struct *signal;
	struct mm_struct *mm;
	struct nsproxy *nsproxy;
	struct pid *tgid;
	kuid_t uid;
};
extern struct task_struct *mock_task;
#define current mock_task
#define task_tgid(t) ((t)->tgid)
void allow_kernel_signal(int sig);
void disallow_signal(int sig);
int send_sig(int sig, struct task_struct *t, int priv);
#define current_uid() (current->uid)
#define current_user_ns() NULL
#define uid_eq(a, b) ((a).val == (b).val)
#define gid_eq(a, b) ((a).val == (b).val)
#define from_kuid_munged(ns, uid) ((uid).val)
#define net_eq(a, b) ((a) == (b))
#define CAP_SYS_PTRACE 19
struct pid *get_pid(struct pid *p);
void put_pid(struct pid *p);
#define pid_vnr(p) ((u32)(p)->number)
bool ns_capable(const struct user_namespace *ns, int cap);
struct net *get_net(struct net *net);
void put_net(struct net *net);
u64 get_random_u64(void);

/* --- the device --- */

typedef void *fl_owner_t;
struct inode;
struct file {
	void *private_data;
};
typedef struct {
	int unused;
} poll_table;
#define poll_wait(file, wait, table) ((void)(table))
struct file_operations {
	void *owner;
	int (*open)(struct inode *inode, struct file *file);
	int (*flush)(struct file *file, fl_owner_t id);
	int (*release)(struct inode *inode, struct file *file);
	long (*unlocked_ioctl)(struct file *file, unsigned int cmd,
			       unsigned long arg);
	long (*compat_ioctl)(struct file *file, unsigned int cmd,
			     unsigned long arg);
	int (*mmap)(struct file *file, struct vm_area_struct *vma);
	__poll_t (*poll)(struct file *file, poll_table *wait);
	void *llseek;
};
#define THIS_MODULE NULL
#define compat_ptr_ioctl NULL
#define noop_llseek NULL
struct miscdevice {
	int minor;
	const char *name;
	const struct file_operations *fops;
	unsigned int mode;
};
#define MISC_DYNAMIC_MINOR 255
int misc_register(struct miscdevice *d);
void misc_deregister(struct miscdevice *d);
#define module_init(f)              \
	int mock_module_init(void); \
	int mock_module_init(void)  \
	{                           \
		return f();         \
	}
#define module_exit(f)               \
	void mock_module_exit(void); \
	void mock_module_exit(void)  \
	{                            \
		f();                 \
	}
#define module_param(name, type, mode) _Static_assert(1, "")
#define MODULE_PARM_DESC(name, text) _Static_assert(1, "")
#define MODULE_AUTHOR(x) _Static_assert(1, "")
#define MODULE_DESCRIPTION(x) _Static_assert(1, "")
#define MODULE_LICENSE(x) _Static_assert(1, "")

/* Tracepoints are functions that do nothing. */
#define TP_PROTO(...) __VA_ARGS__
#define TP_ARGS(...)
#define TRACE_EVENT(name, proto, ...)          \
	static inline void trace_##name(proto) \
	{                                      \
	}
#define TRACE_DEFINE_ENUM(x) _Static_assert((x) >= 0, #x)
#define DECLARE_EVENT_CLASS(...)
#define DEFINE_EVENT(class, name, proto, ...)  \
	static inline void trace_##name(proto) \
	{                                      \
	}

/* --- sockets --- */

#define IS_ENABLED(option) 0
#define ntohs(x) __builtin_bswap16(x)
#define AF_INET 2
#define IPPROTO_TCP 6
#define TCP_ESTABLISHED 1
#define TCP_CLOSE 7
#define TCP_CLOSE_WAIT 8
#define TCP_LISTEN 10
#define RCV_SHUTDOWN 1
#define SHUT_RDWR 2
#define MSG_DONTWAIT 0x40
#define MSG_MORE 0x8000
#define MSG_NOSIGNAL 0x4000

struct sock {
	/* what the driver sees */
	int sk_protocol, sk_state, sk_err;
	u16 sk_family, sk_num, sk_dport; /* the last in network order */
	u32 sk_rcv_saddr, sk_daddr;
	unsigned int sk_shutdown;
	gfp_t sk_allocation;
	bool sk_use_task_frag;
	rwlock_t sk_callback_lock;
	void *sk_user_data;
	const struct tcp_ulp_ops *icsk_ulp_ops;
	void (*sk_data_ready)(struct sock *sk);
	void (*sk_state_change)(struct sock *sk);
	void (*sk_write_space)(struct sock *sk);
	void (*sk_error_report)(struct sock *sk);
	/* how it works here */
	struct net *net;
	struct sock *peer;
	struct socket *socket;
	bool owned; /* by a process: lock_sock */
	const struct task_struct *owner;
	bool locked_bh; /* by softirq */
	bool data_news, state_news, space_news, error_news;
	bool no_space; /* somebody waits for room to send */
	unsigned char *rx;
	size_t rx_len, rx_size;
	u64 sent;
	unsigned int native; /* calls of the callbacks it had at first */
};

struct socket {
	struct sock *sk;
	int refs;
	bool in_use;
	struct file *file;	   /* NULL: the driver's own: inet.c */
	struct socket *queue[400]; /* called, and not accepted yet */
	u32 nqueue;
};

struct sk_buff {
	const unsigned char *data;
	size_t len;
};

struct msghdr {
	struct iov_iter msg_iter;
	unsigned int msg_flags;
};

typedef struct {
	size_t written, count;
	union {
		void *data;
	} arg;
	int error;
} read_descriptor_t;
typedef int (*sk_read_actor_t)(read_descriptor_t *desc, struct sk_buff *skb,
			       unsigned int off, size_t len);

#define inet_csk(sk) (sk)
#define inet_csk_enter_pingpong_mode(sk) ((void)(sk))
#define sock_net(sk) ((sk)->net)
#define sk_is_tcp(sk) ((sk)->sk_protocol == IPPROTO_TCP)
#define sock_owned_by_user_nocheck(sk) ((sk)->owned)
#define SK_USER_DATA_NOCOPY 1ul
#define rcu_dereference_sk_user_data(sk) \
	((void *)((uintptr_t)(sk)->sk_user_data & ~7ul))
#define __rcu_assign_sk_user_data_with_flags(sk, p, flags) \
	((sk)->sk_user_data = (void *)((uintptr_t)(p) | (flags)))
#define rcu_assign_sk_user_data(sk, p) \
	__rcu_assign_sk_user_data_with_flags(sk, p, 0)
struct tcp_ulp_ops {
	void (*clone)(struct sock *sk);
	char name[16];
};
struct socket *sockfd_lookup(int fd, int *err);
void sockfd_put(struct socket *sock);
void lock_sock(struct sock *sk);
bool mock_trylock_sock(struct sock *sk);
#define o2gk_trylock_sock mock_trylock_sock
void release_sock(struct sock *sk);
void tcp_sock_set_nodelay(struct sock *sk);
bool sk_stream_is_writeable(const struct sock *sk);
bool tcp_rtx_and_write_queues_empty(const struct sock *sk);
int tcp_sendmsg_locked(struct sock *sk, struct msghdr *m, size_t n);
int tcp_read_sock(struct sock *sk, read_descriptor_t *desc,
		  sk_read_actor_t actor);
int kernel_sock_shutdown(struct socket *sock, int how);
int skb_copy_bits(const struct sk_buff *skb, int off, void *to, int n);
int skb_copy_datagram_iter(const struct sk_buff *skb, int off,
			   struct iov_iter *to, int n);

#include "mock_inet.h"

#endif
