/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/* Neighborhood collectives. */
#include "neighbor_cases.h"
