/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * From one stack to another, for fiber.c alone.
 *
 * What a function call must keep is saved on the stack that is left, and the
 * place where it lies is all that a context is. Where we do not know the
 * processor, ucontext does it, with a system call each time.
 */
#ifndef MPI_FIBER_SWITCH_H
#define MPI_FIBER_SWITCH_H

#include <stddef.h>
#include <stdint.h>

#if defined(__x86_64__) && !defined(__ILP32__)

struct fiber_context {
	void *sp;
};

void mpii_fiber_switch(struct fiber_context *from, struct fiber_context *to);
void mpii_fiber_entry(void);

/* The floating-point control words are kept too, as the ABI wants. */
__asm__(".text\n"
	".hidden mpii_fiber_switch\n"
	".globl mpii_fiber_switch\n"
	".type mpii_fiber_switch, @function\n"
	"mpii_fiber_switch:\n"
	"	pushq %rbp\n"
	"	pushq %rbx\n"
	"	pushq %r12\n"
	"	pushq %r13\n"
	"	pushq %r14\n"
	"	pushq %r15\n"
	"	subq $8, %rsp\n"
	"	stmxcsr (%rsp)\n"
	"	fnstcw 4(%rsp)\n"
	"	movq %rsp, (%rdi)\n"
	"	movq (%rsi), %rsp\n"
	"	ldmxcsr (%rsp)\n"
	"	fldcw 4(%rsp)\n"
	"	addq $8, %rsp\n"
	"	popq %r15\n"
	"	popq %r14\n"
	"	popq %r13\n"
	"	popq %r12\n"
	"	popq %rbx\n"
	"	popq %rbp\n"
	"	ret\n"
	".size mpii_fiber_switch, .-mpii_fiber_switch\n"
	".hidden mpii_fiber_entry\n"
	".globl mpii_fiber_entry\n"
	".type mpii_fiber_entry, @function\n"
	"mpii_fiber_entry:\n"
	"	.cfi_startproc\n"
	"	.cfi_undefined rip\n"
	"	movq %r12, %rdi\n"
	"	call *%r13\n"
	"	ud2\n"
	"	.cfi_endproc\n"
	".size mpii_fiber_entry, .-mpii_fiber_entry\n");

static inline void fiber_context_init(struct fiber_context *c, char *stack,
				      size_t size, void (*fn)(void *),
				      void *arg)
{
	uint64_t *sp = (uint64_t *)(stack + size - 16);

	*--sp = (uint64_t)(uintptr_t)mpii_fiber_entry; /* returned to */
	*--sp = 0;				       /* rbp */
	*--sp = 0;				       /* rbx */
	*--sp = (uint64_t)(uintptr_t)arg;	       /* r12 */
	*--sp = (uint64_t)(uintptr_t)fn;	       /* r13 */
	*--sp = 0;				       /* r14 */
	*--sp = 0;				       /* r15 */
	--sp;
	__asm__ volatile("stmxcsr (%0)\n\tfnstcw 4(%0)" : : "r"(sp) : "memory");
	c->sp = sp;
}

#elif defined(__aarch64__)

struct fiber_context {
	void *sp;
};

void mpii_fiber_switch(struct fiber_context *from, struct fiber_context *to);
void mpii_fiber_entry(void);

__asm__(".text\n"
	".hidden mpii_fiber_switch\n"
	".globl mpii_fiber_switch\n"
	".type mpii_fiber_switch, %function\n"
	"mpii_fiber_switch:\n"
	"	sub sp, sp, #176\n"
	"	stp x19, x20, [sp]\n"
	"	stp x21, x22, [sp, #16]\n"
	"	stp x23, x24, [sp, #32]\n"
	"	stp x25, x26, [sp, #48]\n"
	"	stp x27, x28, [sp, #64]\n"
	"	stp x29, x30, [sp, #80]\n"
	"	stp d8, d9, [sp, #96]\n"
	"	stp d10, d11, [sp, #112]\n"
	"	stp d12, d13, [sp, #128]\n"
	"	stp d14, d15, [sp, #144]\n"
	"	mov x9, sp\n"
	"	str x9, [x0]\n"
	"	ldr x9, [x1]\n"
	"	mov sp, x9\n"
	"	ldp x19, x20, [sp]\n"
	"	ldp x21, x22, [sp, #16]\n"
	"	ldp x23, x24, [sp, #32]\n"
	"	ldp x25, x26, [sp, #48]\n"
	"	ldp x27, x28, [sp, #64]\n"
	"	ldp x29, x30, [sp, #80]\n"
	"	ldp d8, d9, [sp, #96]\n"
	"	ldp d10, d11, [sp, #112]\n"
	"	ldp d12, d13, [sp, #128]\n"
	"	ldp d14, d15, [sp, #144]\n"
	"	add sp, sp, #176\n"
	"	ret\n"
	".size mpii_fiber_switch, .-mpii_fiber_switch\n"
	".hidden mpii_fiber_entry\n"
	".globl mpii_fiber_entry\n"
	".type mpii_fiber_entry, %function\n"
	"mpii_fiber_entry:\n"
	"	.cfi_startproc\n"
	"	.cfi_undefined x30\n"
	"	mov x0, x19\n"
	"	blr x20\n"
	"	brk #1\n"
	"	.cfi_endproc\n"
	".size mpii_fiber_entry, .-mpii_fiber_entry\n");

static inline void fiber_context_init(struct fiber_context *c, char *stack,
				      size_t size, void (*fn)(void *),
				      void *arg)
{
	uint64_t *sp = (uint64_t *)(stack + size - 176);

	for (int i = 0; i < 22; i++)
		sp[i] = 0;
	sp[0] = (uint64_t)(uintptr_t)arg;		/* x19 */
	sp[1] = (uint64_t)(uintptr_t)fn;		/* x20 */
	sp[11] = (uint64_t)(uintptr_t)mpii_fiber_entry; /* x30 */
	c->sp = sp;
}

#else

#include <ucontext.h>

struct fiber_context {
	ucontext_t uc;
};

static inline void mpii_fiber_switch(struct fiber_context *from,
				     struct fiber_context *to)
{
	swapcontext(&from->uc, &to->uc);
}

/* makecontext passes ints only. */
static void fiber_enter(unsigned fn_hi, unsigned fn_lo, unsigned arg_hi,
			unsigned arg_lo)
{
	void (*fn)(void *) =
		(void (*)(void *))(uintptr_t)((uint64_t)fn_hi << 32 | fn_lo);

	fn((void *)(uintptr_t)((uint64_t)arg_hi << 32 | arg_lo));
}

static inline void fiber_context_init(struct fiber_context *c, char *stack,
				      size_t size, void (*fn)(void *),
				      void *arg)
{
	uint64_t f = (uintptr_t)fn, a = (uintptr_t)arg;

	getcontext(&c->uc);
	c->uc.uc_stack.ss_sp = stack;
	c->uc.uc_stack.ss_size = size;
	c->uc.uc_link = NULL;
	makecontext(&c->uc, (void (*)(void))fiber_enter, 4, (unsigned)(f >> 32),
		    (unsigned)f, (unsigned)(a >> 32), (unsigned)a);
}

#endif

#endif
