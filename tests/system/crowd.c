/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * crowd ADDRESS PORT RATE SECONDS: strangers that connect to a port, RATE of them a
 * second, and say nothing. Each stays for as long as descriptors last. Prints how many
 * there were.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define HELD 900

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + t.tv_nsec / 1e9;
}

static int call(const struct sockaddr_in *to)
{
	struct linger gone = { .l_onoff = 1 }; /* leave no TIME_WAIT behind */
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);

	if (fd < 0)
		return -1;
	setsockopt(fd, SOL_SOCKET, SO_LINGER, &gone, sizeof(gone));
	if (connect(fd, (const void *)to, sizeof(*to)) &&
	    errno != EINPROGRESS) {
		close(fd);
		return -1;
	}
	return fd;
}

int main(int argc, char **argv)
{
	struct sockaddr_in to = { .sin_family = AF_INET };
	int fd[HELD];
	double began = now(), rate;
	long n = 0, made = 0;

	if (argc != 5 || inet_pton(AF_INET, argv[1], &to.sin_addr) != 1)
		return 2;
	to.sin_port = htons((unsigned short)atoi(argv[2]));
	rate = atof(argv[3]);
	for (int i = 0; i < HELD; i++)
		fd[i] = -1;
	while (now() - began < atof(argv[4])) {
		if (n >= (now() - began) * rate) {
			usleep(200);
			continue;
		}
		if (fd[n % HELD] >= 0)
			close(fd[n % HELD]);
		fd[n % HELD] = call(&to);
		made += fd[n++ % HELD] >= 0;
	}
	printf("crowd: %ld connections in %.1f s\n", made, now() - began);
	return 0;
}
