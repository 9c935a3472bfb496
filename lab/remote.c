// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
/*
 * lab/remote: run commands on the other machine of a pair. What ssh would do,
 * without keys and without a server to install; for the lab only.
 *
 *	remote serve		in one machine
 *	remote HOST COMMAND...	in the other; the words are joined for a shell
 *
 * As with ssh, standard input goes there, output comes back, and the exit code
 * is the command's. When either side goes away, the command is ended.
 *
 * HOST is looked up as HOST-control in /etc/hosts: a network of its own, so
 * that the one under test can be cut.
 */
#include <errno.h>
#include <netdb.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#define PORT "7177"

/* From the server: a kind, a length, that many bytes. */
enum { OUT = 1, ERR = 2, EXIT = 3 };

struct head {
	uint8_t kind;
	uint8_t code;
	uint16_t len;
};

static int write_all(int fd, const void *data, size_t len)
{
	while (len) {
		ssize_t n = write(fd, data, len);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return -1;
		data = (const char *)data + n;
		len -= n;
	}
	return 0;
}

static int read_all(int fd, void *data, size_t len)
{
	while (len) {
		ssize_t n = read(fd, data, len);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return -1;
		data = (char *)data + n;
		len -= n;
	}
	return 0;
}

/* Pass on what a pipe holds; 0 at its end. */
static int relay_output(int from, int sock, int kind)
{
	char buf[8192];
	ssize_t n = read(from, buf, sizeof(buf));
	struct head head = { .kind = kind, .len = n > 0 ? n : 0 };

	if (n <= 0)
		return 0;
	if (write_all(sock, &head, sizeof(head)) || write_all(sock, buf, n))
		return -1;
	return 1;
}

/* Standard input of the command; -1 when the client has gone. */
static int relay_input(int sock, int *to)
{
	char buf[8192];
	ssize_t n = recv(sock, buf, sizeof(buf), 0);

	if (n < 0)
		return -1;
	if (n == 0 || (*to >= 0 && write_all(*to, buf, n))) {
		if (*to >= 0)
			close(*to);
		*to = -1;
	}
	return n ? 0 : 1;
}

static pid_t start(const char *command, int in[2], int out[2], int err[2])
{
	pid_t pid;

	if (pipe(in) || pipe(out) || pipe(err))
		return -1;
	pid = fork();
	if (pid)
		return pid;
	setsid();
	dup2(in[0], 0);
	dup2(out[1], 1);
	dup2(err[1], 2);
	for (int fd = 3; fd < 64; fd++)
		close(fd);
	execl("/bin/bash", "bash", "-c", command, (char *)NULL);
	_exit(127);
}

/* One command, in a process of its own. */
static void serve_one(int sock)
{
	int in[2], out[2], err[2], status, open = 2, half_closed = 0;
	struct head head = { .kind = EXIT };
	uint32_t len;
	char *command;
	pid_t pid;

	if (read_all(sock, &len, sizeof(len)) || len > 1 << 20)
		return;
	command = calloc(1, len + 1);
	if (!command || read_all(sock, command, len))
		return;
	signal(SIGPIPE, SIG_IGN);
	pid = start(command, in, out, err);
	close(in[0]);
	close(out[1]);
	close(err[1]);
	while (open) {
		struct pollfd p[] = { { out[0], POLLIN, 0 },
				      { err[0], POLLIN, 0 },
				      { sock, half_closed ? 0 : POLLIN, 0 } };
		int rc = 1;

		poll(p, 3, -1);
		if (p[0].revents && relay_output(out[0], sock, OUT) <= 0)
			close(out[0]), out[0] = -1, open--;
		if (p[1].revents && relay_output(err[0], sock, ERR) <= 0)
			close(err[0]), err[0] = -1, open--;
		if (p[2].revents & (POLLERR | POLLHUP))
			rc = -1;
		else if (p[2].revents)
			rc = relay_input(sock, &in[1]);
		if (p[2].revents && rc == 1)
			half_closed = 1;
		if (rc < 0)
			break;
	}
	if (open)
		kill(-pid, SIGKILL);
	waitpid(pid, &status, 0);
	head.code = WIFEXITED(status) ? WEXITSTATUS(status) :
					128 + WTERMSIG(status);
	write_all(sock, &head, sizeof(head));
}

static int serve(void)
{
	struct addrinfo hints = { .ai_family = AF_INET,
				  .ai_flags = AI_PASSIVE,
				  .ai_socktype = SOCK_STREAM },
			*ai;
	int one = 1, listener, sock;

	if (getaddrinfo(NULL, PORT, &hints, &ai))
		return 1;
	listener = socket(ai->ai_family, ai->ai_socktype | SOCK_CLOEXEC, 0);
	setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
	if (bind(listener, ai->ai_addr, ai->ai_addrlen) ||
	    listen(listener, 64)) {
		perror("remote serve");
		return 1;
	}
	signal(SIGCHLD, SIG_IGN);
	while ((sock = accept(listener, NULL, NULL)) >= 0) {
		setsockopt(sock, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
		if (!fork()) {
			signal(SIGCHLD, SIG_DFL);
			serve_one(sock);
			_exit(0);
		}
		close(sock);
	}
	return 1;
}

static int dial(const char *host)
{
	char name[256];
	struct addrinfo hints = { .ai_family = AF_INET,
				  .ai_socktype = SOCK_STREAM },
			*ai;
	int i, one = 1, sock;

	snprintf(name, sizeof(name), "%s-control", host);
	if (getaddrinfo(name, PORT, &hints, &ai)) {
		fprintf(stderr, "remote: there is no host %s\n", host);
		exit(255);
	}
	/* The other machine may still be starting. */
	for (i = 0; i < 1200; i++) {
		sock = socket(ai->ai_family, ai->ai_socktype | SOCK_CLOEXEC, 0);
		if (!connect(sock, ai->ai_addr, ai->ai_addrlen)) {
			setsockopt(sock, IPPROTO_TCP, TCP_NODELAY, &one,
				   sizeof(one));
			return sock;
		}
		close(sock);
		usleep(100000);
	}
	fprintf(stderr, "remote: %s does not answer\n", host);
	exit(255);
}

static void send_command(int sock, char **words)
{
	uint32_t len = 0;
	char *line;
	int i;

	for (i = 0; words[i]; i++)
		len += strlen(words[i]) + 1;
	line = calloc(1, len + 1);
	if (!line)
		exit(255);
	for (i = 0; words[i]; i++) {
		strcat(line, words[i]);
		strcat(line, " ");
	}
	if (write_all(sock, &len, sizeof(len)) || write_all(sock, line, len))
		exit(255);
	free(line);
}

static int call(const char *host, char **words)
{
	int sock = dial(host), in = 0;
	char buf[65536];
	struct head head;

	signal(SIGPIPE, SIG_IGN);
	send_command(sock, words);
	for (;;) {
		struct pollfd p[] = { { sock, POLLIN, 0 }, { in, POLLIN, 0 } };

		poll(p, 2, -1);
		if (p[1].revents) {
			ssize_t n = read(0, buf, sizeof(buf));

			if (n <= 0 || write_all(sock, buf, n)) {
				shutdown(sock, SHUT_WR);
				in = -1;
			}
		}
		if (!p[0].revents)
			continue;
		if (read_all(sock, &head, sizeof(head)) ||
		    read_all(sock, buf, head.len)) {
			fprintf(stderr, "remote: %s has gone\n", host);
			return 255;
		}
		if (head.kind == EXIT)
			return head.code;
		write_all(head.kind, buf, head.len);
	}
}

int main(int argc, char **argv)
{
	if (argc == 2 && !strcmp(argv[1], "serve"))
		return serve();
	if (argc >= 3)
		return call(argv[1], argv + 2);
	fprintf(stderr, "usage: remote serve | remote HOST COMMAND...\n");
	return 2;
}
