/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * File and line of a return address, by addr2line of the binutils. The program is
 * looked for on this host: ranks elsewhere mostly run the same file, and if the
 * file here is another one, its build id says so. Without addr2line, without debug
 * information or without the file, the name and an offset have to do.
 */
#include "why.h"

#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

struct known {
	char path[O2G_STATE_PATH];
	uint64_t offset;
	char words[256];
	bool line; /* it is a file and a line */
};
static struct known *known;
static size_t nknown;

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/* --- is it the same file? --- */

static bool in_notes(const char *p, size_t size, const uint8_t *id, size_t n)
{
	const ElfW(Nhdr) * h;

	while (size >= sizeof(*h)) {
		size_t name, all;

		h = (const void *)p;
		name = (h->n_namesz + 3ul) & ~3ul;
		all = sizeof(*h) + name + ((h->n_descsz + 3ul) & ~3ul);
		if (all > size)
			break;
		if (h->n_type == NT_GNU_BUILD_ID)
			return h->n_descsz == n &&
			       !memcmp(p + sizeof(*h) + name, id, n);
		p += all;
		size -= all;
	}
	return false;
}

static bool in_file(const char *p, size_t size, const uint8_t *id, size_t n)
{
	const ElfW(Ehdr) *e = (const void *)p;

	if (size < sizeof(*e) || memcmp(e->e_ident, ELFMAG, SELFMAG) ||
	    e->e_phoff > size || e->e_phentsize != sizeof(ElfW(Phdr)) ||
	    e->e_phnum > (size - e->e_phoff) / sizeof(ElfW(Phdr)))
		return false;
	for (int i = 0; i < e->e_phnum; i++) {
		const ElfW(Phdr) *h = (const void *)(p + e->e_phoff);

		h += i;
		if (h->p_type == PT_NOTE && h->p_offset <= size &&
		    h->p_filesz <= size - h->p_offset &&
		    in_notes(p + h->p_offset, h->p_filesz, id, n))
			return true;
	}
	return false;
}

static bool is_same(const struct o2g_state_module *m)
{
	int fd = open(m->path, O_RDONLY | O_CLOEXEC);
	bool same = false;
	struct stat st;
	void *p;

	if (fd < 0 || fstat(fd, &st) || !S_ISREG(st.st_mode) || !st.st_size) {
		if (fd >= 0)
			close(fd);
		return false;
	}
	p = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	close(fd);
	if (p == MAP_FAILED)
		return false;
	same = !m->build_id_len ||
	       in_file(p, (size_t)st.st_size, m->build_id, m->build_id_len);
	munmap(p, (size_t)st.st_size);
	return same;
}

/* --- asking addr2line --- */

static void become_addr2line(const char *path, uint64_t offset, int to)
{
	char address[32];
	int null = open("/dev/null", O_WRONLY);

	snprintf(address, sizeof(address), "0x%llx",
		 (unsigned long long)offset);
	dup2(to, STDOUT_FILENO);
	if (null >= 0)
		dup2(null, STDERR_FILENO);
	execlp("addr2line", "addr2line", "-e", path, address, NULL);
	_exit(127);
}

/* Its first line; false: it has nothing to say. */
static bool ask(const char *path, uint64_t offset, char *line, int size)
{
	int fd[2], status = 0;
	bool got = false;
	FILE *f;
	pid_t pid;

	if (pipe(fd))
		return false;
	pid = fork();
	if (pid == 0)
		become_addr2line(path, offset, fd[1]);
	close(fd[1]);
	f = fdopen(fd[0], "r");
	if (f) {
		got = fgets(line, size, f) != NULL;
		fclose(f);
	} else {
		close(fd[0]);
	}
	if (pid > 0)
		waitpid(pid, &status, 0);
	return got && pid > 0 && status == 0 && !strchr(line, '?');
}

static void find(struct known *k, const struct o2g_state_module *m)
{
	char line[1024], *end;

	snprintf(k->words, sizeof(k->words), "%.200s+0x%llx",
		 base_name(m->path), (unsigned long long)k->offset);
	if (!is_same(m) || !ask(m->path, k->offset, line, sizeof(line)))
		return;
	end = strpbrk(line, " \n"); /* "(discriminator 2)" */
	if (end)
		*end = '\0';
	if (end && end - line > 2 && !strcmp(end - 2, ":0"))
		return;
	snprintf(k->words, sizeof(k->words), "%.200s", base_name(line));
	k->line = true;
}

static const struct known *look_up(const struct o2g_state *s,
				   const struct o2g_state_frame *f)
{
	static const struct known nowhere = { .words = "an unknown place" };
	const struct o2g_state_module *m;
	struct known *more;

	if (f->module >= s->modules)
		return &nowhere;
	m = &s->module[f->module];
	for (size_t i = 0; i < nknown; i++)
		if (known[i].offset == f->offset &&
		    !strcmp(known[i].path, m->path))
			return &known[i];
	more = realloc(known, (nknown + 1) * sizeof(*known));
	if (!more)
		return &nowhere;
	known = more;
	more = &known[nknown++];
	*more = (struct known){ .offset = f->offset };
	memcpy(more->path, m->path, sizeof(more->path));
	find(more, m);
	return more;
}

/* The innermost frame with a line: before it there may be a tool that stands
 * between the program and MPI, or an interpreter's module. */
const char *why_where(const struct why_rank *r, const struct o2g_state_wait *w)
{
	static char words[256];
	const char *first = NULL;

	for (int i = 0; i < w->frames; i++) {
		const struct known *k = look_up(&r->page, &w->frame[i]);

		if (k->line || !first)
			snprintf(words, sizeof(words), "%s", k->words);
		first = words;
		if (k->line)
			break;
	}
	return first ? first : "an unknown place";
}

const char *why_polls_where(const struct why_rank *r)
{
	static char words[256];

	snprintf(words, sizeof(words), "%s",
		 r->page.poll_frame.offset ?
			 look_up(&r->page, &r->page.poll_frame)->words :
			 "an unknown place");
	return words;
}
