# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
"""Makes the report of bench/make-report."""
