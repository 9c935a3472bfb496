/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * A crash says where it happened: which rank, on which host, by which signal, and the
 * functions that were being called. Then the signal does what it would have done.
 *
 * Nothing is allocated and no lock of the C library is taken here, since the program may
 * have died in malloc. The stack is walked by the compiler's own unwinder, which is
 * linked into this library: backtrace(3) would first have to load one.
 */
#define _GNU_SOURCE
#include "process/crash.h"

#include <execinfo.h>
#include <link.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>
#include <unwind.h>

#include "handle.h"
#include "settings.h"

#define FRAMES 48
#define STACK (64 << 10) /* for a program that has used up its own */

static const int watched[] = { SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT };

#define WATCHED (sizeof(watched) / sizeof(*watched))

static char front[160];		 /* "o2g: rank 3 on node7: signal " */
static char lines[512];		 /* "o2g: rank 3 on node7: ... addr2line ..." */
static uintptr_t code, code_end; /* the program, without its libraries, */
static uintptr_t moved; /* ... and how far from where it was linked for */
static char names[WATCHED][64]; /* "11 (Segmentation fault)" */

struct walk {
	void *at[FRAMES];
	int n;
	uintptr_t from; /* where the program was; 0: not known */
};

static _Unwind_Reason_Code step(struct _Unwind_Context *c, void *arg)
{
	struct walk *w = arg;
	uintptr_t ip = _Unwind_GetIP(c);

	/* What comes before is this handler, and what calls it. */
	if (w->from && ip == w->from)
		w->n = 0;
	if (w->n == FRAMES || !ip)
		return _URC_END_OF_STACK;
	w->at[w->n++] = (void *)ip;
	return _URC_NO_REASON;
}

static uintptr_t program_counter(const void *context)
{
#if defined(__x86_64__)
	return (uintptr_t)((const ucontext_t *)context)
		->uc_mcontext.gregs[REG_RIP];
#elif defined(__aarch64__)
	return (uintptr_t)((const ucontext_t *)context)->uc_mcontext.pc;
#else
	return 0;
#endif
}

static void put(const char *text)
{
	if (write(STDERR_FILENO, text, strlen(text)) < 0)
		return;
}

static void put_address(const void *address)
{
	char digits[2 + 2 * sizeof(uintptr_t) + 1],
		*p = digits + sizeof(digits);
	uintptr_t v = (uintptr_t)address;

	*--p = '\0';
	do
		*--p = "0123456789abcdef"[v & 15];
	while (v >>= 4);
	*--p = 'x';
	*--p = '0';
	put(p);
}

static void say_what(int sig, const siginfo_t *info)
{
	put(front);
	for (size_t i = 0; i < WATCHED; i++)
		if (watched[i] == sig)
			put(names[i]);
	if (info->si_code > 0 && sig != SIGABRT) {
		put(" at address ");
		put_address(info->si_addr);
	}
	put("; it was called from:\n");
}

/* How to find the program's own functions and lines, of which only offsets are known. */
static void say_lines(const struct walk *w)
{
	bool any = false;

	for (int i = 0; lines[0] && i < w->n; i++) {
		uintptr_t at = (uintptr_t)w->at[i];

		if (at < code || at >= code_end)
			continue;
		if (!any)
			put(lines);
		any = true;
		put(" ");
		/* A caller is where it will go on, which may be the next line. */
		put_address((void *)(at - moved - !(i == 0 && w->from)));
	}
	if (any)
		put("\n");
}

#ifdef MPII_READS_NOTED
extern const struct mpii_read __start_mpii_reads[], __stop_mpii_reads[];

/* The program has named an object that is not there (handle.h): it is another one. */
static bool was_no_handle(void *context)
{
	greg_t *regs = ((ucontext_t *)context)->uc_mcontext.gregs;
	const uintptr_t at = (uintptr_t)regs[REG_RIP];
	const greg_t equal = 0x40; /* the zero flag */

	/* One array, whose two ends the linker names. */
	for (const struct mpii_read *r = __start_mpii_reads;
	     /* cppcheck-suppress comparePointers */
	     r < __stop_mpii_reads; r++) {
		if ((uintptr_t)&r->at + (uintptr_t)r->at != at)
			continue;
		regs[REG_RIP] =
			(greg_t)((uintptr_t)&r->after + (uintptr_t)r->after);
		regs[REG_EFL] &= ~equal;
		return true;
	}
	return false;
}
#else
static bool was_no_handle(void *context)
{
	return false;
}
#endif

static void on_crash(int sig, siginfo_t *info, void *context)
{
	static atomic_flag told = ATOMIC_FLAG_INIT;
	struct walk w = { .from = program_counter(context) };

	if (info->si_code > 0 && was_no_handle(context))
		return;
	if (!atomic_flag_test_and_set(&told)) {
		say_what(sig, info);
		_Unwind_Backtrace(step, &w);
		backtrace_symbols_fd(w.at, w.n, STDERR_FILENO);
		say_lines(&w);
	}
	signal(sig, SIG_DFL);
	/* What the processor refused is refused again when we return. */
	if (info->si_code <= 0)
		raise(sig);
}

/* Only for this thread, which is the main one nearly always. */
static void have_stack(void)
{
	stack_t now, own = { .ss_size = STACK };

	if (sigaltstack(NULL, &now) || !(now.ss_flags & SS_DISABLE))
		return;
	own.ss_sp = mmap(NULL, STACK, PROT_READ | PROT_WRITE,
			 MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0);
	if (own.ss_sp != MAP_FAILED)
		sigaltstack(&own, NULL);
}

static void watch(int sig)
{
	struct sigaction now, own = { .sa_flags = SA_SIGINFO | SA_ONSTACK };

	own.sa_sigaction = on_crash;
	sigemptyset(&own.sa_mask);
	if (!sigaction(sig, NULL, &now) && now.sa_handler == SIG_DFL &&
	    !(now.sa_flags & SA_SIGINFO))
		sigaction(sig, &own, NULL);
}

/* The first object is the program. */
static int find_text(struct dl_phdr_info *info, size_t size, void *arg)
{
	moved = info->dlpi_addr;
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *p = &info->dlpi_phdr[i];

		if (p->p_type != PT_LOAD || !(p->p_flags & PF_X))
			continue;
		code = moved + p->p_vaddr;
		code_end = code + p->p_memsz;
	}
	return 1;
}

static void prepare_lines(const char *who)
{
	char path[300];
	ssize_t n = readlink("/proc/self/exe", path, sizeof(path) - 1);

	if (n < 0 || n == sizeof(path) - 1)
		return;
	path[n] = '\0';
	dl_iterate_phdr(find_text, NULL);
	snprintf(lines, sizeof(lines),
		 "o2g: %s: lines, if compiled with -g: addr2line -Cfpe %s", who,
		 path);
}

void mpii_crash_watch(const char *who)
{
	if (!o2g_settings()->backtrace)
		return;
	snprintf(front, sizeof(front), "o2g: %s: signal ", who);
	prepare_lines(who);
	have_stack();
	for (size_t i = 0; i < WATCHED; i++) {
		snprintf(names[i], sizeof(names[i]), "%d (%s)", watched[i],
			 strsignal(watched[i]));
		watch(watched[i]);
	}
}
