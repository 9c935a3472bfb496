// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
/*
 * Stockham's form of the fast Fourier transform: each pass reads one array and
 * writes the other, and the result is in order without a permutation. Lines are
 * taken a few at a time and laid side by side, real and imaginary parts apart,
 * so that the inner loops run over neighbouring numbers.
 */
#include "ft_fft.h"

#include "nas.h"

#include <math.h>

enum { SIDE_BY_SIDE = 8 };

void ft_plan_init(struct ft_plan *p, int n)
{
	p->n = n;
	p->cosine = nas_alloc(n / 2, sizeof(double));
	p->sine = nas_alloc(n / 2, sizeof(double));
	for (int i = 0; i < n / 2; i++) {
		p->cosine[i] = cos(2 * M_PI * i / n);
		p->sine[i] = sin(2 * M_PI * i / n);
	}
	for (int i = 0; i < 2; i++) {
		p->re[i] = nas_alloc(n * SIDE_BY_SIDE, sizeof(double));
		p->im[i] = nas_alloc(n * SIDE_BY_SIDE, sizeof(double));
	}
}

/*
 * Butterflies between the halves of the input: pair j of `groups`, each `width`
 * numbers wide, with the root of unity number j * width / SIDE_BY_SIDE.
 */
static void pass(const struct ft_plan *p, int from, long groups, long width,
		 int sign)
{
	for (long j = 0; j < groups; j++) {
		double c = p->cosine[j * width / SIDE_BY_SIDE];
		double s = sign * p->sine[j * width / SIDE_BY_SIDE];
		const double *a_re = p->re[from] + j * width;
		const double *a_im = p->im[from] + j * width;
		const double *b_re = a_re + groups * width;
		const double *b_im = a_im + groups * width;
		double *restrict sum_re = p->re[!from] + 2 * j * width;
		double *restrict sum_im = p->im[!from] + 2 * j * width;
		double *restrict rot_re = sum_re + width;
		double *restrict rot_im = sum_im + width;

		for (long k = 0; k < width; k++) {
			double re = a_re[k] - b_re[k];
			double im = a_im[k] - b_im[k];

			sum_re[k] = a_re[k] + b_re[k];
			sum_im[k] = a_im[k] + b_im[k];
			rot_re[k] = re * c - im * s;
			rot_im[k] = re * s + im * c;
		}
	}
}

/* Which of the two arrays holds the result. */
static int transform_some(const struct ft_plan *p, int sign)
{
	long width = SIDE_BY_SIDE;
	int from = 0;

	for (long groups = p->n / 2; groups; groups /= 2) {
		pass(p, from, groups, width, sign);
		width *= 2;
		from = !from;
	}
	return from;
}

static void load(const struct ft_plan *p, const struct ft_complex *data,
		 int lines, long step, long next)
{
	for (int i = 0; i < p->n; i++) {
		const struct ft_complex *at = data + i * step;
		long to = (long)i * SIDE_BY_SIDE;

		for (int k = 0; k < lines; k++) {
			p->re[0][to + k] = at[k * next].re;
			p->im[0][to + k] = at[k * next].im;
		}
	}
}

static void store(const struct ft_plan *p, int which, struct ft_complex *data,
		  int lines, long step, long next)
{
	for (int i = 0; i < p->n; i++) {
		struct ft_complex *at = data + i * step;
		long from = (long)i * SIDE_BY_SIDE;

		for (int k = 0; k < lines; k++) {
			at[k * next].re = p->re[which][from + k];
			at[k * next].im = p->im[which][from + k];
		}
	}
}

void ft_transform(struct ft_plan *p, struct ft_complex *data, long lines,
		  long step, long next, int sign)
{
	for (long k = 0; k < lines; k += SIDE_BY_SIDE) {
		int some = lines - k < SIDE_BY_SIDE ? lines - k : SIDE_BY_SIDE;

		load(p, data + k * next, some, step, next);
		store(p, transform_some(p, sign), data + k * next, some, step,
		      next);
	}
}
