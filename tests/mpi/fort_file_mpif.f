! SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
!
! Files from mpif.h, in fixed form: a view of every rank's integers in
! turn, all ways to wait, pointers and an error.
      program fort_file_mpif
      implicit none
      include 'mpif.h'
      integer rank, size, f, every, req, n, ierr, class, i
      integer v(8), got(8), status(MPI_STATUS_SIZE)
      integer(kind=MPI_OFFSET_KIND) at, bytes
      integer(kind=MPI_ADDRESS_KIND) lb, extent
      character(len=80) name

      call MPI_INIT(ierr)
      call MPI_COMM_RANK(MPI_COMM_WORLD, rank, ierr)
      call MPI_COMM_SIZE(MPI_COMM_WORLD, size, ierr)
      call get_environment_variable('TMPDIR', name)
      if (name .eq. ' ') name = '/tmp'
      if (rank .eq. 0) call unique(name)
      call MPI_BCAST(name, 80, MPI_CHARACTER, 0, MPI_COMM_WORLD, ierr)
      call MPI_FILE_OPEN(MPI_COMM_WORLD, name, MPI_MODE_CREATE +        &
     &     MPI_MODE_RDWR + MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL,     &
     &     f, ierr)
      if (ierr .ne. MPI_SUCCESS) call wrong(1)
      lb = 0
      extent = 4 * size
      call MPI_TYPE_CREATE_RESIZED(MPI_INTEGER, lb, extent, every,      &
     &     ierr)
      call MPI_TYPE_COMMIT(every, ierr)
      at = 4 * rank
      call MPI_FILE_SET_VIEW(f, at, MPI_INTEGER, every, 'native',       &
     &     MPI_INFO_NULL, ierr)
      if (ierr .ne. MPI_SUCCESS) call wrong(2)
      do i = 1, 8
         v(i) = 100 * rank + i
      end do
      call MPI_FILE_WRITE_ALL(f, v, 6, MPI_INTEGER, status, ierr)
      call MPI_GET_COUNT(status, MPI_INTEGER, n, ierr)
      if (n .ne. 6) call wrong(3)
      call MPI_FILE_IWRITE(f, v(7), 2, MPI_INTEGER, req, ierr)
      call MPI_WAIT(req, status, ierr)
      call MPI_FILE_GET_POSITION(f, at, ierr)
      if (at .ne. 8) call wrong(4)
      call MPI_FILE_SYNC(f, ierr)
      call MPI_BARRIER(MPI_COMM_WORLD, ierr)
      call MPI_FILE_GET_SIZE(f, bytes, ierr)
      if (bytes .ne. 32 * size) call wrong(5)
      got = 0
      at = 0
      call MPI_FILE_READ_AT_ALL_BEGIN(f, at, got, 8, MPI_INTEGER, ierr)
      call MPI_FILE_READ_AT_ALL_END(f, got, status, ierr)
      if (any(got .ne. v)) call wrong(6)
      at = 6
      call MPI_FILE_READ_AT(f, at, got, 8, MPI_INTEGER, status, ierr)
      call MPI_GET_COUNT(status, MPI_INTEGER, n, ierr)
      if (n .ne. 2 .or. got(1) .ne. v(7)) call wrong(7)
      at = 0
      call MPI_FILE_SEEK_SHARED(f, at, MPI_SEEK_SET, ierr)
      call MPI_FILE_READ_ORDERED(f, got, 0, MPI_INTEGER, status, ierr)
      if (ierr .ne. MPI_SUCCESS) call wrong(8)
      call MPI_FILE_READ_AT(f, at, got, -1, MPI_INTEGER, status, ierr)
      call MPI_ERROR_CLASS(ierr, class, i)
      if (class .ne. MPI_ERR_COUNT) call wrong(9)
      call MPI_TYPE_FREE(every, ierr)
      call MPI_FILE_CLOSE(f, ierr)
      if (f .ne. MPI_FILE_NULL) call wrong(10)
      call MPI_FINALIZE(ierr)
      end

      subroutine unique(name)
      implicit none
      character(len=80) name
      integer now
      call system_clock(now)
      write(name, '(a,a,i0)') trim(name), '/o2g_fort_mpif.', now
      end

      subroutine wrong(what)
      implicit none
      include 'mpif.h'
      integer what, ierr
      print *, 'wrong:', what
      call MPI_ABORT(MPI_COMM_WORLD, 1, ierr)
      end
