/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * o2g dsm [-d SECONDS] [-n TIMES] [-j]: regions of shared memory of the processes on this host,
 * how many faults they have, and a map of which pages go back and forth. -j: in JSON.
 *
 * Each process counts in a memory file (dsm/lib/counts.h), found among its descriptors;
 * whoever may look at the process may read it.
 */
#define _GNU_SOURCE
#include <ctype.h>
#include <dirent.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "cmd.h"
#include "counts.h"

#define MOST 256 /* files */
#define WIDTH 64 /* characters in a line of the map */
#define LINES 16 /* at most */
#define WORST 5	 /* pages that are named */

struct file {
	int pid;
	const struct dsm_counts *counts;
	size_t bytes;
	uint64_t faults_before;
};

/* All that a page has been through here. */
static uint64_t heat(const struct dsm_page_counts *p)
{
	return (uint64_t)p->taken + p->handovers;
}

static bool sound(const struct dsm_counts *c, size_t bytes)
{
	return c->magic == DSM_COUNTS_MAGIC &&
	       c->pages <= (bytes - sizeof(*c)) / sizeof(c->page[0]) &&
	       memchr(c->name, 0, sizeof(c->name));
}

static const struct dsm_counts *map_file(const char *path, size_t *bytes)
{
	const struct dsm_counts *c;
	struct stat st;
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		return NULL;
	c = fstat(fd, &st) || st.st_size < (off_t)sizeof(*c) ?
		    MAP_FAILED :
		    mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_SHARED, fd,
			 0);
	close(fd);
	if (c == MAP_FAILED)
		return NULL;
	*bytes = (size_t)st.st_size;
	if (sound(c, *bytes))
		return c;
	munmap((void *)c, *bytes);
	return NULL;
}

/* The files of one process. */
static int look_at(int pid, struct file *files, int n)
{
	char dir[64], path[512], link[64];
	struct dirent *e;
	DIR *d;

	snprintf(dir, sizeof(dir), "/proc/%d/fd", pid);
	d = opendir(dir);
	while (d && n < MOST && (e = readdir(d))) {
		ssize_t len;

		snprintf(path, sizeof(path), "%s/%s", dir, e->d_name);
		len = readlink(path, link, sizeof(link) - 1);
		link[len > 0 ? len : 0] = '\0';
		if (strncmp(link, "/memfd:" DSM_COUNTS_FILE " ",
			    strlen("/memfd:" DSM_COUNTS_FILE " ")))
			continue;
		files[n].counts = map_file(path, &files[n].bytes);
		files[n].pid = pid;
		n += files[n].counts != NULL;
	}
	if (d)
		closedir(d);
	return n;
}

static int by_region(const void *a, const void *b)
{
	const struct file *x = a, *y = b;
	int names = strcmp(x->counts->name, y->counts->name);

	return names ? names : (int)x->counts->rank - (int)y->counts->rank;
}

static int find_all(struct file *files)
{
	struct dirent *e;
	DIR *d = opendir("/proc");
	int n = 0;

	while (d && (e = readdir(d)))
		if (isdigit((unsigned char)e->d_name[0]))
			n = look_at(atoi(e->d_name), files, n);
	if (d)
		closedir(d);
	qsort(files, (size_t)n, sizeof(*files), by_region);
	return n;
}

static void forget(struct file *files, int n)
{
	for (int i = 0; i < n; i++)
		munmap((void *)files[i].counts, files[i].bytes);
}

static uint64_t faults(const struct dsm_counts *c)
{
	return c->read_faults + c->write_faults;
}

/* --- printing --- */

static void print_process(const struct file *f, double seconds)
{
	const struct dsm_counts *c = f->counts;

	printf("%8d %6u %10.0f %10llu %10llu %10llu %10llu %10.1f\n", f->pid,
	       c->rank,
	       seconds > 0 ? (double)(faults(c) - f->faults_before) / seconds :
			     0,
	       (unsigned long long)c->read_faults,
	       (unsigned long long)c->write_faults,
	       (unsigned long long)c->taken, (unsigned long long)c->messages,
	       (double)c->bytes / 1e6);
}

/* The heat of a page, in all processes of the region. */
static uint64_t heat_of(const struct file *f, int n, uint64_t page)
{
	uint64_t sum = 0;

	for (int i = 0; i < n; i++)
		if (page < f[i].counts->pages)
			sum += heat(&f[i].counts->page[page]);
	return sum;
}

/* A character for the hottest page of those that it stands for. */
static void print_map(const struct file *f, int n)
{
	static const char scale[] = " .:-=+*#%@";
	uint64_t pages = f->counts->pages;
	uint64_t each = (pages + WIDTH * LINES - 1) / (WIDTH * LINES);
	uint64_t most = 0;

	for (uint64_t p = 0; p < pages; p++)
		if (heat_of(f, n, p) > most)
			most = heat_of(f, n, p);
	printf("  %llu pages, %llu to a character; @ is %llu times taken or handed over\n",
	       (unsigned long long)pages, (unsigned long long)each,
	       (unsigned long long)most);
	for (uint64_t p = 0; p < pages; p += each) {
		uint64_t hot = 0;

		if (p / each % WIDTH == 0)
			printf("  %#14llx |",
			       (unsigned long long)(f->counts->base +
						    p * 4096));
		for (uint64_t q = p; q < p + each && q < pages; q++)
			if (heat_of(f, n, q) > hot)
				hot = heat_of(f, n, q);
		putchar(scale[most ? (hot * 9 + most - 1) / most : 0]);
		if (p / each % WIDTH == WIDTH - 1 || p + each >= pages)
			puts("|");
	}
}

/* Its home knows which node writes it. */
static void print_page(const struct file *f, int n, uint64_t page)
{
	uint64_t writers = 0;

	for (int i = 0; i < n; i++)
		writers |= f[i].counts->page[page].writers;
	printf("  page %#llx: %llu times, written by",
	       (unsigned long long)(f->counts->base + page * 4096),
	       (unsigned long long)heat_of(f, n, page));
	for (unsigned rank = 0; rank < 64; rank++)
		if (writers >> rank & 1)
			printf(" %u", rank);
	puts("");
}

static void print_worst(const struct file *f, int n)
{
	uint64_t below = UINT64_MAX;

	for (int i = 0; i < WORST; i++) {
		uint64_t worst = 0, page = 0;

		for (uint64_t p = 0; p < f->counts->pages; p++) {
			uint64_t h = heat_of(f, n, p);

			if (h > worst && h < below) {
				worst = h;
				page = p;
			}
		}
		if (!worst)
			return;
		print_page(f, n, page);
		below = worst;
	}
}

static void print_region(const struct file *f, int n, double seconds)
{
	printf("region %s, %.1f MB\n", f->counts->name,
	       (double)f->counts->pages * 4096 / 1e6);
	printf("%8s %6s %10s %10s %10s %10s %10s %10s\n", "process", "rank",
	       "faults/s", "reads", "writes", "taken", "messages", "MB sent");
	for (int i = 0; i < n; i++)
		print_process(&f[i], seconds);
	print_map(f, n);
	print_worst(f, n);
}

/* --- the same for programs --- */

static void json_string(const char *s)
{
	putchar('"');
	for (; *s; s++)
		if (*s == '"' || *s == '\\')
			printf("\\%c", *s);
		else
			putchar(*s < ' ' || *s > '~' ? '?' : *s);
	putchar('"');
}

static void json_process(const struct file *f, double seconds)
{
	const struct dsm_counts *c = f->counts;

	printf("{\"pid\": %d, \"rank\": %u, \"faults_per_s\": %.0f, \"reads\": %llu, \"writes\": %llu, \"taken\": %llu, \"messages\": %llu, \"bytes\": %llu}",
	       f->pid, c->rank,
	       seconds > 0 ? (double)(faults(c) - f->faults_before) / seconds :
			     0,
	       (unsigned long long)c->read_faults,
	       (unsigned long long)c->write_faults,
	       (unsigned long long)c->taken, (unsigned long long)c->messages,
	       (unsigned long long)c->bytes);
}

static void json_region(const struct file *f, int n, double seconds)
{
	printf("{\"region\": ");
	json_string(f->counts->name);
	printf(", \"base\": %llu, \"processes\": [",
	       (unsigned long long)f->counts->base);
	for (int i = 0; i < n; i++) {
		fputs(i ? ", " : "", stdout);
		json_process(&f[i], seconds);
	}
	fputs("], \"heat\": [", stdout);
	for (uint64_t p = 0; p < f->counts->pages; p++)
		printf(p ? ", %llu" : "%llu",
		       (unsigned long long)heat_of(f, n, p));
	puts("]}");
}

static bool in_json;

static void print_all(struct file *files, int n, double seconds)
{
	for (int i = 0, next; i < n; i = next) {
		for (next = i + 1; next < n; next++)
			if (strcmp(files[next].counts->name,
				   files[i].counts->name) ||
			    files[next].counts->base != files[i].counts->base)
				break;
		(in_json ? json_region : print_region)(files + i, next - i,
						       seconds);
	}
	fflush(stdout);
}

static void nap(double seconds)
{
	struct timespec t = { (time_t)seconds,
			      (long)(1e9 *
				     (seconds - (double)(time_t)seconds)) };

	nanosleep(&t, NULL);
}

/* What was counted meanwhile is the difference. */
static bool show(double seconds)
{
	static struct file files[MOST];
	int n = find_all(files);

	for (int i = 0; i < n; i++)
		files[i].faults_before = faults(files[i].counts);
	nap(seconds);
	if (n)
		print_all(files, n, seconds);
	else if (!in_json)
		puts("nobody shares memory on this host, as far as you may see");
	forget(files, n);
	return n;
}

int cmd_dsm(int argc, char **argv)
{
	double seconds = 1;
	int times = 1, c;

	while ((c = getopt(argc, argv, "d:n:j")) != -1) {
		if (c == 'd' && atof(optarg) > 0)
			seconds = atof(optarg);
		else if (c == 'n' && atoi(optarg) > 0)
			times = atoi(optarg);
		else if (c == 'j')
			in_json = true;
		else
			return 2;
	}
	while (times--)
		if (!show(seconds))
			return 1;
	return 0;
}
