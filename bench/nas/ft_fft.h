/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/* Fourier transforms of many lines at once, for FT. */
#ifndef NAS_FT_FFT_H
#define NAS_FT_FFT_H

struct ft_complex {
	double re, im;
};

/* What a length needs: its roots of unity, and room for some lines. */
struct ft_plan {
	int n;
	double *cosine, *sine;
	double *re[2], *im[2];
};

void ft_plan_init(struct ft_plan *p, int n);

/*
 * Transforms `lines` lines in place: element i of line k is at
 * data[i * step + k * next]. The sign is that of the exponent.
 */
void ft_transform(struct ft_plan *p, struct ft_complex *data, long lines,
		  long step, long next, int sign);

#endif
