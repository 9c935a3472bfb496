// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
/*
 * A plugin for QEMU that counts the instructions a guest executes, of programs
 * and of the kernel apart, between two marks.
 *
 * A mark is an instruction that does nothing on any machine, a NOP with a number
 * of ours as displacement; lab/count.c executes them. At the second one a line
 * "user N kernel N" is added to the file that the argument out= names.
 *
 * QEMU's packages do not hold the header of this interface, so what is used of
 * it is declared here: version 1 as in QEMU 7, version 4 as in QEMU 10. Blocks
 * are counted whole when they are entered: one that a fault leaves halfway counts
 * too much by a few.
 */
#include <fcntl.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#ifndef PLUGIN_VERSION
#define PLUGIN_VERSION 1
#endif

#define EXPORT __attribute__((visibility("default")))

struct qemu_plugin_tb;
struct qemu_plugin_insn;

typedef uint64_t qemu_plugin_id_t;

struct qemu_info {
	const char *target_name;
	struct {
		int min, cur;
	} version;
	bool system_emulation;
};

typedef void (*tb_trans_fn)(qemu_plugin_id_t id, struct qemu_plugin_tb *tb);
typedef void (*exec_fn)(unsigned int vcpu, void *arg);

void qemu_plugin_register_vcpu_tb_trans_cb(qemu_plugin_id_t id, tb_trans_fn fn);
void qemu_plugin_register_vcpu_tb_exec_cb(struct qemu_plugin_tb *tb, exec_fn fn,
					  int flags, void *arg);
void qemu_plugin_register_vcpu_insn_exec_cb(struct qemu_plugin_insn *insn,
					    exec_fn fn, int flags, void *arg);
size_t qemu_plugin_tb_n_insns(const struct qemu_plugin_tb *tb);
uint64_t qemu_plugin_tb_vaddr(const struct qemu_plugin_tb *tb);
struct qemu_plugin_insn *
qemu_plugin_tb_get_insn(const struct qemu_plugin_tb *tb, size_t index);
size_t qemu_plugin_insn_size(const struct qemu_plugin_insn *insn);

/* Version 1 takes one argument and returns the bytes, version 3 copies them. */
uintptr_t qemu_plugin_insn_data(const struct qemu_plugin_insn *insn, void *to,
				size_t len);

EXPORT int qemu_plugin_version = PLUGIN_VERSION;
EXPORT int qemu_plugin_install(qemu_plugin_id_t id,
			       const struct qemu_info *info, int argc,
			       char **argv);

#define MAX_CPUS 64

/* A line for each processor: they count at the same time. */
static struct {
	_Alignas(64) uint64_t user, kernel;
} counts[MAX_CPUS];

static uint64_t user_before, kernel_before;
static const char *out;
static bool copies_data;

static const unsigned char mark[] = { 0x0f, 0x1f, 0x84, 0x00, /* nopl */
				      0,    'G',  '2',	'O' };

static void count_user(unsigned int vcpu, void *arg)
{
	counts[vcpu % MAX_CPUS].user += (uintptr_t)arg;
}

static void count_kernel(unsigned int vcpu, void *arg)
{
	counts[vcpu % MAX_CPUS].kernel += (uintptr_t)arg;
}

static void sum(uint64_t *user, uint64_t *kernel)
{
	*user = *kernel = 0;
	for (int i = 0; i < MAX_CPUS; i++) {
		*user += counts[i].user;
		*kernel += counts[i].kernel;
	}
}

static void first_mark(unsigned int vcpu, void *arg)
{
	(void)vcpu;
	(void)arg;
	sum(&user_before, &kernel_before);
}

static void second_mark(unsigned int vcpu, void *arg)
{
	uint64_t user, kernel;
	int fd = open(out, O_WRONLY | O_CREAT | O_APPEND, 0644);

	(void)vcpu;
	(void)arg;
	sum(&user, &kernel);
	if (fd < 0)
		return;
	dprintf(fd, "user %llu kernel %llu\n",
		(unsigned long long)(user - user_before),
		(unsigned long long)(kernel - kernel_before));
	close(fd);
}

/* The number of the mark that an instruction is, or 0. */
static int which_mark(struct qemu_plugin_insn *insn)
{
	unsigned char bytes[sizeof(mark)];
	uintptr_t data;

	if (qemu_plugin_insn_size(insn) != sizeof(mark))
		return 0;
	data = qemu_plugin_insn_data(insn, bytes, sizeof(bytes));
	if (!copies_data)
		memcpy(bytes, (const void *)data, sizeof(bytes));
	if (memcmp(bytes, mark, 4) || memcmp(bytes + 5, mark + 5, 3))
		return 0;
	return bytes[4];
}

static void translated(qemu_plugin_id_t id, struct qemu_plugin_tb *tb)
{
	size_t i, n = qemu_plugin_tb_n_insns(tb);
	bool kernel = qemu_plugin_tb_vaddr(tb) >> 63;

	(void)id;
	qemu_plugin_register_vcpu_tb_exec_cb(tb,
					     kernel ? count_kernel : count_user,
					     0, (void *)(uintptr_t)n);
	for (i = 0; i < n; i++) {
		struct qemu_plugin_insn *insn = qemu_plugin_tb_get_insn(tb, i);
		int number = which_mark(insn);

		if (number)
			qemu_plugin_register_vcpu_insn_exec_cb(
				insn, number == 1 ? first_mark : second_mark, 0,
				NULL);
	}
}

int qemu_plugin_install(qemu_plugin_id_t id, const struct qemu_info *info,
			int argc, char **argv)
{
	for (int i = 0; i < argc; i++)
		if (!strncmp(argv[i], "out=", 4))
			out = strdup(argv[i] + 4);
	if (!out) {
		fprintf(stderr, "insn: say out=FILE\n");
		return 1;
	}
	copies_data = info->version.cur >= 3;
	qemu_plugin_register_vcpu_tb_trans_cb(id, translated);
	return 0;
}
