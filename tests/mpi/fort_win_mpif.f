! SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
!
! Windows from mpif.h, in fixed form. What others write or an operation brings is in
! memory after the fence; MPI_F_SYNC_REG has the compiler look there.
      program fort_win_mpif
      implicit none
      include 'mpif.h'
      integer rank, size, right, left, win, ierr, v, got
      integer mem(4)
      integer(kind=MPI_ADDRESS_KIND) bytes, disp, value
      logical flag

      call MPI_INIT(ierr)
      call MPI_COMM_RANK(MPI_COMM_WORLD, rank, ierr)
      call MPI_COMM_SIZE(MPI_COMM_WORLD, size, ierr)
      right = mod(rank + 1, size)
      left = mod(rank + size - 1, size)
      mem = 0
      bytes = 16
      disp = 2
      call MPI_WIN_CREATE(mem, bytes, 4, MPI_INFO_NULL,                 &
     &     MPI_COMM_WORLD, win, ierr)
      call MPI_WIN_GET_ATTR(win, MPI_WIN_MODEL, value, flag, ierr)
      if (.not. flag .or. value .ne. MPI_WIN_UNIFIED) call wrong(1)
      call MPI_WIN_FENCE(0, win, ierr)
      v = rank + 10
      call MPI_PUT(v, 1, MPI_INTEGER, right, disp, 1, MPI_INTEGER,      &
     &     win, ierr)
      call MPI_WIN_FENCE(0, win, ierr)
      call MPI_F_SYNC_REG(mem)
      if (mem(3) .ne. left + 10) call wrong(2)
      call MPI_GET(got, 1, MPI_INTEGER, right, disp, 1, MPI_INTEGER,    &
     &     win, ierr)
      call MPI_WIN_FENCE(MPI_MODE_NOSUCCEED, win, ierr)
      call MPI_F_SYNC_REG(got)
      if (got .ne. v) call wrong(3)
      call MPI_WIN_FREE(win, ierr)
      if (win .ne. MPI_WIN_NULL) call wrong(4)
      call MPI_FINALIZE(ierr)
      end

      subroutine wrong(what)
      implicit none
      include 'mpif.h'
      integer what, ierr
      print *, 'wrong:', what
      call MPI_ABORT(MPI_COMM_WORLD, 1, ierr)
      end
