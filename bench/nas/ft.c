// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
/*
 * FT: the heat equation on a periodic box, solved in the frequencies: one
 * transform forth, then for each time step a factor and a transform back.
 *
 * Ranks form a rectangle, `across` by `down`; with one across, which is the
 * rule, each has a slab. Three layouts, x running fastest in each:
 *
 *	space		[z / down] [y / across] [x]	transforms along x
 *	between		[z / down] [y] [x / across]	along y
 *	frequency	[z] [y / down] [x / across]	along z
 *
 * An alltoall among the ranks across, and one among those down, lead from one
 * to the next and back. All else is local.
 */
#include "ft_fft.h"
#include "nas.h"

#include <math.h>
#include <string.h>

enum { MAX_ITERATIONS = 20, SAMPLES = 1024 };

static const struct ft_class {
	int nx, ny, nz, iterations;
	struct ft_complex sum[MAX_ITERATIONS];
} classes[NAS_CLASSES] = {
	[NAS_S] = { 64,
		    64,
		    64,
		    6,
		    {
			    { 5.546087004964e+02, 4.845363331978e+02 },
			    { 5.546385409189e+02, 4.865304269511e+02 },
			    { 5.546148406171e+02, 4.883910722336e+02 },
			    { 5.545423607415e+02, 4.901273169046e+02 },
			    { 5.544255039624e+02, 4.917475857993e+02 },
			    { 5.542683411902e+02, 4.932597244941e+02 },
		    } },
	[NAS_W] = { 128,
		    128,
		    32,
		    6,
		    {
			    { 5.673612178944e+02, 5.293246849175e+02 },
			    { 5.631436885271e+02, 5.282149986629e+02 },
			    { 5.594024089970e+02, 5.270996558037e+02 },
			    { 5.560698047020e+02, 5.260027904925e+02 },
			    { 5.530898991250e+02, 5.249400845633e+02 },
			    { 5.504159734538e+02, 5.239212247086e+02 },
		    } },
	[NAS_A] = { 256,
		    256,
		    128,
		    6,
		    {
			    { 5.046735008193e+02, 5.114047905510e+02 },
			    { 5.059412319734e+02, 5.098809666433e+02 },
			    { 5.069376896287e+02, 5.098144042213e+02 },
			    { 5.077892868474e+02, 5.101336130759e+02 },
			    { 5.085233095391e+02, 5.104914655194e+02 },
			    { 5.091487099959e+02, 5.107917842803e+02 },
		    } },
	[NAS_B] = { 512,
		    256,
		    256,
		    20,
		    {
			    { 5.177643571579e+02, 5.077803458597e+02 },
			    { 5.154521291263e+02, 5.088249431599e+02 },
			    { 5.146409228649e+02, 5.096208912659e+02 },
			    { 5.142378756213e+02, 5.101023387619e+02 },
			    { 5.139626667737e+02, 5.103976610617e+02 },
			    { 5.137423460082e+02, 5.105948019802e+02 },
			    { 5.135547056878e+02, 5.107404165783e+02 },
			    { 5.133910925466e+02, 5.108576573661e+02 },
			    { 5.132470705390e+02, 5.109577278523e+02 },
			    { 5.131197729984e+02, 5.110460304483e+02 },
			    { 5.130070319283e+02, 5.111252433800e+02 },
			    { 5.129070537032e+02, 5.111968077718e+02 },
			    { 5.128182883502e+02, 5.112616233064e+02 },
			    { 5.127393733383e+02, 5.113203605551e+02 },
			    { 5.126691062020e+02, 5.113735928093e+02 },
			    { 5.126064276004e+02, 5.114218460548e+02 },
			    { 5.125504076570e+02, 5.114656139760e+02 },
			    { 5.125002331720e+02, 5.115053595966e+02 },
			    { 5.124551951846e+02, 5.115415130407e+02 },
			    { 5.124146770029e+02, 5.115744692211e+02 },
		    } },
};

struct ft {
	struct nas nas;
	const struct ft_class *class;
	int across, down, my_across, my_down;
	MPI_Comm row, column;	    /* the ranks across, and down */
	int x_part, y_part, z_part; /* nx / across, ny / across, nz / down */
	int y_down;		    /* ny / down */
	long points;		    /* here, in any layout */
	struct ft_plan x, y, z;
	struct ft_complex *frequency; /* of the current time */
	struct ft_complex *work, *buffer;
	double *decay;
};

static int smaller(int a, int b)
{
	return a < b ? a : b;
}

static void prepare(struct ft *f, int *argc, char ***argv)
{
	const struct ft_class *c;

	nas_start(&f->nas, argc, argv, "FT");
	c = f->class = &classes[f->nas.class];
	nas_need_power_of_two(&f->nas,
			      smaller(c->ny, c->nz) * smaller(c->nx, c->ny));
	f->down = smaller(f->nas.ranks, smaller(c->ny, c->nz));
	f->across = f->nas.ranks / f->down;
	f->my_across = f->nas.rank % f->across;
	f->my_down = f->nas.rank / f->across;
	MPI_Comm_split(MPI_COMM_WORLD, f->my_down, 0, &f->row);
	MPI_Comm_split(MPI_COMM_WORLD, f->my_across, 0, &f->column);
	f->x_part = c->nx / f->across;
	f->y_part = c->ny / f->across;
	f->z_part = c->nz / f->down;
	f->y_down = c->ny / f->down;
	f->points = (long)c->nx * f->y_part * f->z_part;
	ft_plan_init(&f->x, c->nx);
	ft_plan_init(&f->y, c->ny);
	ft_plan_init(&f->z, c->nz);
	f->frequency = nas_alloc(f->points, sizeof(*f->frequency));
	f->work = nas_alloc(f->points, sizeof(*f->work));
	f->buffer = nas_alloc(f->points, sizeof(*f->buffer));
	f->decay = nas_alloc(f->points, sizeof(*f->decay));
}

/*
 * Between an array of rows and its cut into `parts` pieces: piece p holds the
 * p-th part of each row.
 */
static void cut(struct ft_complex *pieces, struct ft_complex *rows, long count,
		long part, int parts, bool back)
{
	for (int p = 0; p < parts; p++) {
		struct ft_complex *piece = pieces + p * count * part;

		for (long i = 0; i < count; i++) {
			struct ft_complex *row = rows + (i * parts + p) * part;
			struct ft_complex *cut_row = piece + i * part;

			memcpy(back ? row : cut_row, back ? cut_row : row,
			       part * sizeof(*rows));
		}
	}
}

static void swap_pieces(struct ft *f, struct ft_complex *from,
			struct ft_complex *to, MPI_Comm comm, int parts)
{
	int doubles = 2 * f->points / parts;

	MPI_Alltoall(from, doubles, MPI_DOUBLE, to, doubles, MPI_DOUBLE, comm);
}

static void swap_arrays(struct ft *f)
{
	struct ft_complex *work = f->work;

	f->work = f->buffer;
	f->buffer = work;
}

/*
 * From [z][y / across][x] to [z][y][x / across], or back. The pieces that
 * arrive are cut once more: each holds, for all z, its part of y.
 */
static void turn_across(struct ft *f, bool back)
{
	long rows = (long)f->z_part * f->y_part;
	long slice = (long)f->y_part * f->x_part;

	if (f->across == 1)
		return;
	if (back)
		cut(f->buffer, f->work, f->z_part, slice, f->across, false);
	else
		cut(f->buffer, f->work, rows, f->x_part, f->across, false);
	swap_pieces(f, f->buffer, f->work, f->row, f->across);
	if (back)
		cut(f->work, f->buffer, rows, f->x_part, f->across, true);
	else
		cut(f->work, f->buffer, f->z_part, slice, f->across, true);
	swap_arrays(f);
}

/* From [z / down][y] to [z][y / down], or back; x comes along. */
static void turn_down(struct ft *f, bool back)
{
	long part = (long)f->y_down * f->x_part;

	if (f->down == 1)
		return;
	if (back) {
		swap_pieces(f, f->work, f->buffer, f->column, f->down);
		cut(f->buffer, f->work, f->z_part, part, f->down, true);
		return;
	}
	cut(f->buffer, f->work, f->z_part, part, f->down, false);
	swap_pieces(f, f->buffer, f->work, f->column, f->down);
}

static void along_x(struct ft *f, int sign)
{
	ft_transform(&f->x, f->work, (long)f->z_part * f->y_part, 1,
		     f->class->nx, sign);
}

static void along_y(struct ft *f, int sign)
{
	long plane = (long)f->class->ny * f->x_part;

	for (int z = 0; z < f->z_part; z++)
		ft_transform(&f->y, f->work + z * plane, f->x_part, f->x_part,
			     1, sign);
}

static void along_z(struct ft *f, int sign)
{
	long plane = (long)f->y_down * f->x_part;

	ft_transform(&f->z, f->work, plane, plane, 1, sign);
}

/* Both work in f->work. */
static void to_frequency(struct ft *f)
{
	along_x(f, -1);
	turn_across(f, false);
	along_y(f, -1);
	turn_down(f, false);
	along_z(f, -1);
}

static void to_space(struct ft *f)
{
	along_z(f, 1);
	turn_down(f, true);
	along_y(f, 1);
	turn_across(f, true);
	along_x(f, 1);
}

static void fill_with_random(struct ft *f)
{
	const struct ft_class *c = f->class;
	struct ft_complex *to = f->work;

	for (int z = 0; z < f->z_part; z++) {
		for (int y = 0; y < f->y_part; y++) {
			long row = (long)(f->my_down * f->z_part + z) * c->ny +
				   f->my_across * f->y_part + y;
			uint64_t seed = nas_skip(NAS_SEED, 2 * row * c->nx);

			for (int x = 0; x < c->nx; x++, to++) {
				to->re = nas_random(&seed);
				to->im = nas_random(&seed);
			}
		}
	}
}

/* Frequencies above half are negative ones. */
static double square_of(int frequency, int n)
{
	int k = frequency < n / 2 ? frequency : frequency - n;

	return (double)k * k;
}

static void fill_decay(struct ft *f)
{
	const struct ft_class *c = f->class;
	double factor = -4 * 1e-6 * M_PI * M_PI;
	double *to = f->decay;

	for (int z = 0; z < c->nz; z++) {
		for (int y = 0; y < f->y_down; y++) {
			double zy =
				square_of(z, c->nz) +
				square_of(f->my_down * f->y_down + y, c->ny);

			for (int x = 0; x < f->x_part; x++) {
				int k = f->my_across * f->x_part + x;

				*to++ = exp(factor *
					    (zy + square_of(k, c->nx)));
			}
		}
	}
}

/* One time step; the state goes into f->work as well. */
static void evolve(struct ft *f)
{
	for (long i = 0; i < f->points; i++) {
		f->frequency[i].re *= f->decay[i];
		f->frequency[i].im *= f->decay[i];
		f->work[i] = f->frequency[i];
	}
}

/* On rank 0. */
static struct ft_complex checksum(struct ft *f)
{
	const struct ft_class *c = f->class;
	double points = (double)c->nx * c->ny * c->nz;
	struct ft_complex sum = { 0, 0 }, all = { 0, 0 };

	for (int j = 1; j <= SAMPLES; j++) {
		int x = j % c->nx;
		int y = 3 * j % c->ny - f->my_across * f->y_part;
		int z = 5 * j % c->nz - f->my_down * f->z_part;
		const struct ft_complex *at;

		if (y < 0 || y >= f->y_part || z < 0 || z >= f->z_part)
			continue;
		at = f->work + ((long)z * f->y_part + y) * c->nx + x;
		sum.re += at->re / points;
		sum.im += at->im / points;
	}
	MPI_Reduce(&sum, &all, 2, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
	return all;
}

static bool near(struct ft_complex a, struct ft_complex b)
{
	return hypot(a.re - b.re, a.im - b.im) <= 1e-12 * hypot(b.re, b.im);
}

static void start_state(struct ft *f)
{
	fill_decay(f);
	fill_with_random(f);
	to_frequency(f);
	memcpy(f->frequency, f->work, f->points * sizeof(*f->work));
}

static double operations(const struct ft_class *c)
{
	double points = (double)c->nx * c->ny * c->nz;

	return points * (14.8157 + 7.19641 * log(points) +
			 (5.23518 + 7.21113 * log(points)) * c->iterations);
}

int main(int argc, char **argv)
{
	static struct ft f;
	struct nas_result result = {
		.operation = "floating point",
		.verified = true,
	};
	double start;

	prepare(&f, &argc, &argv);
	start_state(&f); /* so that memory is touched and ranks are connected */
	start = nas_clock_start();
	start_state(&f);
	for (int i = 0; i < f.class->iterations; i++) {
		evolve(&f);
		to_space(&f);
		result.verified &= near(checksum(&f), f.class->sum[i]);
	}
	result.seconds = nas_clock_stop(start);
	result.size[0] = f.class->nx;
	result.size[1] = f.class->ny;
	result.size[2] = f.class->nz;
	result.iterations = f.class->iterations;
	result.operations = operations(f.class);
	return nas_finish(&f.nas, &result);
}
