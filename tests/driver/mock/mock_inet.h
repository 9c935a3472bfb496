/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * What the driver uses to make connections of its own: sockets that listen and connect,
 * work that is delayed, and a keyed hash. Part of mock_kernel.h.
 */
#ifndef MOCK_INET_H
#define MOCK_INET_H

/* --- the language --- */

#ifndef IS_ERR
#define MAX_ERRNO 4095ul
#define ERR_PTR(err) ((void *)(intptr_t)(err))
#define PTR_ERR(p) ((int)(intptr_t)(p))
#define IS_ERR(p) ((uintptr_t)(p) >= (uintptr_t)-MAX_ERRNO)
#define PTR_ERR_OR_ZERO(p)                    \
	({                                    \
		const void *p_ = (p);         \
		IS_ERR(p_) ? PTR_ERR(p_) : 0; \
	})
#endif
#define strscpy(to, from, n) ((void)snprintf(to, n, "%s", from))
int snprintf(char *to, size_t n, const char *format, ...);
#define memzero_explicit(p, n) memset(p, 0, n)
#define pr_info_ratelimited(...) ((void)(mock_printed += 1))
extern unsigned int mock_printed;
#define DECLARE_BITMAP(name, n) unsigned long name[BITS_TO_LONGS(n)]
#define set_bit(n, map) __set_bit(n, map)
bool test_and_clear_bit(unsigned long n, unsigned long *map);
#define for_each_set_bit(n, map, size)                        \
	for ((n) = find_next_bit(map, size, 0); (n) < (size); \
	     (n) = find_next_bit(map, size, (n) + 1))
u32 jhash2(const u32 *words, u32 n, u32 seed);
void get_random_bytes(void *to, size_t n);

struct new_utsname {
	char nodename[16]; /* a short one, so that it fits anywhere */
};
#define utsname() (&(struct new_utsname){ "this host" })

/* --- later --- */

struct delayed_work {
	struct work_struct work;
	struct workqueue_struct *wq;
	bool armed;
	unsigned long at;
	struct delayed_work *next;
};
#define INIT_DELAYED_WORK(d, f) (INIT_WORK(&(d)->work, f), (d)->armed = false)
bool queue_delayed_work(struct workqueue_struct *wq, struct delayed_work *d,
			unsigned long delay);
bool mod_delayed_work(struct workqueue_struct *wq, struct delayed_work *d,
		      unsigned long delay);
bool cancel_delayed_work_sync(struct delayed_work *d);

/* Time passes meanwhile; when nothing can happen any more it is killed. */
int wait_for_completion_killable(struct completion *c);

/* --- sockets --- */

#define AF_INET6 10
#define SOCK_STREAM 1
#define TCP_SYN_SENT 2
#ifndef O_NONBLOCK
#define O_NONBLOCK 04000
#endif
struct sockaddr;
struct sockaddr_in {
	char all[16];
};
struct sockaddr_storage {
	u16 ss_family;
	u16 port; /* in network order, as that of IPv4 */
	u32 addr;
	char rest[120];
};
int __sock_create(struct net *net, int family, int type, int proto,
		  struct socket **sock, int kern);
void sock_release(struct socket *sock);
struct file *sock_alloc_file(struct socket *sock, int flags, const char *name);
int kernel_bind(struct socket *sock, void *addr, int len);
int kernel_listen(struct socket *sock, int backlog);
int kernel_accept(struct socket *sock, struct socket **child, int flags);
int kernel_connect(struct socket *sock, void *addr, int len, int flags);
int kernel_recvmsg(struct socket *sock, struct msghdr *m, struct kvec *vec,
		   size_t n, size_t len, int flags);
int kernel_sendmsg(struct socket *sock, struct msghdr *m, struct kvec *vec,
		   size_t n, size_t len);
#define sock_set_keepalive(sk) tcp_sock_set_nodelay(sk)
#define sock_set_reuseaddr(sk) tcp_sock_set_nodelay(sk)
#define tcp_sock_set_keepidle(sk, s) tcp_sock_set_nodelay(sk)
#define tcp_sock_set_keepintvl(sk, s) tcp_sock_set_nodelay(sk)
#define tcp_sock_set_keepcnt(sk, n) tcp_sock_set_nodelay(sk)

/* --- crypto: HMAC with SHA-256, whatever is asked for --- */

struct crypto_shash;
struct shash_desc {
	struct crypto_shash *tfm;
	void *state;
};
#define SHASH_DESC_ON_STACK(name, tfm) \
	struct shash_desc name##_desc = {}, *name = &name##_desc
struct crypto_shash *crypto_alloc_shash(const char *name, u32 type, u32 mask);
void crypto_free_shash(struct crypto_shash *tfm);
int crypto_shash_setkey(struct crypto_shash *tfm, const u8 *key,
			unsigned int n);
int crypto_shash_init(struct shash_desc *d);
int crypto_shash_update(struct shash_desc *d, const void *p, unsigned int n);
int crypto_shash_final(struct shash_desc *d, u8 *out);
void shash_desc_zero(struct shash_desc *d);
unsigned long crypto_memneq(const void *a, const void *b, size_t n);

#endif
