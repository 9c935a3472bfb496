! SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
!
!     The oldest style: fixed form, mpif.h, no interfaces.
      program main
      implicit none
      include 'mpif.h'
      integer ierr, rank, size
      common /who/ rank, size

      call MPI_INIT(ierr)
      call check(ierr .eq. MPI_SUCCESS, 'init')
      call MPI_COMM_RANK(MPI_COMM_WORLD, rank, ierr)
      call MPI_COMM_SIZE(MPI_COMM_WORLD, size, ierr)
      call messages
      call several
      call collectives
      call types
      call attributes
      call operations
      call errors
      call strings
      call topologies
      call others
      call MPI_FINALIZE(ierr)
      end

      subroutine check(good, what)
      implicit none
      include 'mpif.h'
      logical good
      character*(*) what
      integer rank, size, ierr
      common /who/ rank, size

      if (.not. good) then
        print *, 'rank', rank, ': wrong: ', what
        call MPI_ABORT(MPI_COMM_WORLD, 1, ierr)
      end if
      end

!     Around the ring: blocking, probed, and to oneself by MPI_BOTTOM.
      subroutine messages
      implicit none
      include 'mpif.h'
      integer rank, size, ierr, to, from, n, i
      common /who/ rank, size
      integer status(MPI_STATUS_SIZE)
      double precision out(5), in(5)
      integer x, y, type
      integer(kind=MPI_ADDRESS_KIND) where(1)
      integer one(1)
      logical flag

      to = mod(rank + 1, size)
      from = mod(rank + size - 1, size)
      do i = 1, 5
        out(i) = 10 * rank + i
        in(i) = 0
      end do
      call MPI_SENDRECV(out, 4, MPI_DOUBLE_PRECISION, to, 3, in, 5,
     &  MPI_DOUBLE_PRECISION, from, 3, MPI_COMM_WORLD, status, ierr)
      call check(ierr .eq. MPI_SUCCESS, 'sendrecv')
      call check(in(4) .eq. 10 * from + 4 .and. in(5) .eq. 0, 'data')
      call check(status(MPI_SOURCE) .eq. from, 'source')
      call check(status(MPI_TAG) .eq. 3, 'tag')
      call MPI_GET_COUNT(status, MPI_DOUBLE_PRECISION, n, ierr)
      call check(n .eq. 4, 'count')

      x = 77
      y = 0
      call MPI_SEND(x, 1, MPI_INTEGER, MPI_PROC_NULL, 1,
     &  MPI_COMM_WORLD, ierr)
      call MPI_RECV(y, 1, MPI_INTEGER, MPI_PROC_NULL, 1,
     &  MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierr)
      call check(y .eq. 0, 'null process')
      call MPI_IPROBE(MPI_ANY_SOURCE, 99, MPI_COMM_WORLD, flag,
     &  MPI_STATUS_IGNORE, ierr)
      call check(.not. flag, 'iprobe')

      call MPI_GET_ADDRESS(y, where(1), ierr)
      one(1) = 1
      call MPI_TYPE_CREATE_HINDEXED(1, one, where, MPI_INTEGER, type,
     &  ierr)
      call MPI_TYPE_COMMIT(type, ierr)
      call MPI_SENDRECV(x, 1, MPI_INTEGER, rank, 1, MPI_BOTTOM, 1,
     &  type, rank, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierr)
      call MPI_F_SYNC_REG(y)
      call check(y .eq. 77, 'bottom')
      call MPI_TYPE_FREE(type, ierr)
      call check(type .eq. MPI_DATATYPE_NULL, 'type freed')
      end

!     Indices count from one; requests become null.
      subroutine several
      implicit none
      include 'mpif.h'
      integer n
      parameter (n = 40)
      integer rank, size, ierr, i, index, outcount, done
      common /who/ rank, size
      integer reqs(n), in(n), indices(n)
      integer statuses(MPI_STATUS_SIZE, n)
      logical flag

      do i = 1, n
        in(i) = 0
        call MPI_IRECV(in(i), 1, MPI_INTEGER, rank, i, MPI_COMM_WORLD,
     &    reqs(i), ierr)
      end do
      call MPI_TESTANY(n, reqs, index, flag, MPI_STATUS_IGNORE, ierr)
      call check(.not. flag .and. index .eq. MPI_UNDEFINED, 'testany')
      call MPI_SEND(1007, 1, MPI_INTEGER, rank, 7, MPI_COMM_WORLD, ierr)
      call MPI_WAITANY(n, reqs, index, statuses, ierr)
      call check(index .eq. 7 .and. in(7) .eq. 1007, 'waitany')
      call check(reqs(7) .eq. MPI_REQUEST_NULL, 'null request')
      call check(statuses(MPI_TAG, 1) .eq. 7, 'its status')
      call MPI_SEND(1, 1, MPI_INTEGER, rank, 1, MPI_COMM_WORLD, ierr)
      call MPI_SEND(2, 1, MPI_INTEGER, rank, n, MPI_COMM_WORLD, ierr)
      done = 0
      do while (done .lt. 2)
        call MPI_WAITSOME(n, reqs, outcount, indices, statuses, ierr)
        do i = 1, outcount
          call check(indices(i) .eq. 1 .or. indices(i) .eq. n, 'some')
          call check(statuses(MPI_TAG, i) .eq. indices(i), 'whose')
        end do
        done = done + outcount
      end do
      do i = 2, n - 1
        if (i .ne. 7) call MPI_SEND(i, 1, MPI_INTEGER, rank, i,
     &    MPI_COMM_WORLD, ierr)
      end do
      call MPI_WAITALL(n, reqs, MPI_STATUSES_IGNORE, ierr)
      do i = 2, n - 1
        if (i .ne. 7) call check(in(i) .eq. i, 'all')
      end do
      call MPI_TESTALL(n, reqs, flag, MPI_STATUSES_IGNORE, ierr)
      call check(flag, 'all are null')
      end

      subroutine collectives
      implicit none
      include 'mpif.h'
      integer rank, size, ierr, i
      common /who/ rank, size
      integer x(3), all(64), types(64), counts(64), displs(64)
      logical yes, both

      x(1) = rank
      x(2) = 1
      x(3) = -rank
      call MPI_ALLREDUCE(MPI_IN_PLACE, x, 3, MPI_INTEGER, MPI_SUM,
     &  MPI_COMM_WORLD, ierr)
      call check(x(1) .eq. size * (size - 1) / 2, 'in place')
      call check(x(2) .eq. size .and. x(3) .eq. -x(1), 'in place too')
      yes = rank .eq. 0
      call MPI_ALLREDUCE(yes, both, 1, MPI_LOGICAL, MPI_LOR,
     &  MPI_COMM_WORLD, ierr)
      call check(both .eqv. .true., 'logical or')
      call MPI_ALLGATHER(rank, 1, MPI_INTEGER, all, 1, MPI_INTEGER,
     &  MPI_COMM_WORLD, ierr)
      do i = 1, size
        call check(all(i) .eq. i - 1, 'allgather')
        counts(i) = 1
        displs(i) = 4 * (i - 1)
        types(i) = MPI_INTEGER
      end do
      do i = 1, size
        x(1) = 0
        all(i) = 100 * rank + i - 1
      end do
      call MPI_ALLTOALLW(MPI_IN_PLACE, counts, displs, types, all,
     &  counts, displs, types, MPI_COMM_WORLD, ierr)
      do i = 1, size
        call check(all(i) .eq. 100 * (i - 1) + rank, 'alltoallw')
      end do
      end

!     A vector of a matrix, and how it was made.
      subroutine types
      implicit none
      include 'mpif.h'
      integer rank, size, ierr, type, i, n, ni, na, nd, combiner
      common /who/ rank, size
      integer ints(8), kinds(8)
      integer(kind=MPI_ADDRESS_KIND) addrs(8), lb, extent
      real a(4, 6), row(6)
      integer status(MPI_STATUS_SIZE)

      do i = 1, 6
        a(2, i) = i
      end do
      call MPI_TYPE_VECTOR(6, 1, 4, MPI_REAL, type, ierr)
      call MPI_TYPE_COMMIT(type, ierr)
      call MPI_SENDRECV(a(2, 1), 1, type, rank, 5, row, 6, MPI_REAL,
     &  rank, 5, MPI_COMM_WORLD, status, ierr)
      do i = 1, 6
        call check(row(i) .eq. i, 'row')
      end do
      call MPI_TYPE_SIZE(type, n, ierr)
      call check(n .eq. 24, 'size')
      call MPI_TYPE_GET_EXTENT(type, lb, extent, ierr)
      call check(lb .eq. 0 .and. extent .eq. 84, 'extent')
      call MPI_TYPE_GET_ENVELOPE(type, ni, na, nd, combiner, ierr)
      call check(combiner .eq. MPI_COMBINER_VECTOR, 'combiner')
      call MPI_TYPE_GET_CONTENTS(type, ni, na, nd, ints, addrs, kinds,
     &  ierr)
      call check(ints(1) .eq. 6 .and. ints(3) .eq. 4, 'contents')
      call check(kinds(1) .eq. MPI_REAL, 'of what')
      call MPI_TYPE_FREE(type, ierr)
      call MPI_TYPE_CREATE_F90_REAL(15, 300, type, ierr)
      call MPI_TYPE_SIZE(type, n, ierr)
      call check(n .eq. 8, 'f90 real')
      end

!     Deprecated attributes are INTEGERs, and so are their callbacks'.
      subroutine attributes
      implicit none
      include 'mpif.h'
      external copy_old, delete_old
      integer rank, size, ierr, key, val, comm, deleted
      common /who/ rank, size
      common /count/ deleted
      logical flag
      integer(kind=MPI_ADDRESS_KIND) ub

      deleted = 0
      call MPI_KEYVAL_CREATE(copy_old, delete_old, key, 5, ierr)
      call MPI_ATTR_PUT(MPI_COMM_WORLD, key, -42, ierr)
      call MPI_ATTR_GET(MPI_COMM_WORLD, key, val, flag, ierr)
      call check(flag .and. val .eq. -42, 'attr_get')
      call MPI_COMM_DUP(MPI_COMM_WORLD, comm, ierr)
      call MPI_ATTR_GET(comm, key, val, flag, ierr)
      call check(flag .and. val .eq. -37, 'copied')
      call MPI_COMM_FREE(comm, ierr)
      call check(comm .eq. MPI_COMM_NULL, 'comm freed')
      call MPI_ATTR_DELETE(MPI_COMM_WORLD, key, ierr)
      call check(deleted .eq. 2, 'deleted')
      call MPI_KEYVAL_FREE(key, ierr)
      call check(key .eq. MPI_KEYVAL_INVALID, 'key freed')
      call MPI_ATTR_GET(MPI_COMM_WORLD, MPI_TAG_UB, val, flag, ierr)
      call check(flag .and. val .ge. 32767, 'tag_ub')
      call MPI_COMM_GET_ATTR(MPI_COMM_WORLD, MPI_TAG_UB, ub, flag,
     &  ierr)
      call check(flag .and. ub .eq. val, 'tag_ub again')
      end

      subroutine copy_old(comm, key, state, in, out, flag, ierr)
      implicit none
      include 'mpif.h'
      integer comm, key, state, in, out, ierr, n
      logical flag
      call MPI_COMM_SIZE(comm, n, ierr)
      out = in + state
      flag = .true.
      ierr = MPI_SUCCESS
      end

      subroutine delete_old(comm, key, val, state, ierr)
      implicit none
      include 'mpif.h'
      integer comm, key, val, state, ierr, deleted
      common /count/ deleted
      call check(state .eq. 5, 'extra state')
      deleted = deleted + 1
      ierr = MPI_SUCCESS
      end

      subroutine operations
      implicit none
      include 'mpif.h'
      external larger
      integer rank, size, ierr, op
      common /who/ rank, size
      integer x(2), y(2)
      logical commutes

      call MPI_OP_CREATE(larger, .true., op, ierr)
      call MPI_OP_COMMUTATIVE(op, commutes, ierr)
      call check(commutes, 'commutes')
      x(1) = rank
      x(2) = -rank
      call MPI_ALLREDUCE(x, y, 2, MPI_INTEGER, op, MPI_COMM_WORLD, ierr)
      call check(y(1) .eq. size - 1 .and. y(2) .eq. 0, 'user op')
      call MPI_OP_FREE(op, ierr)
      call check(op .eq. MPI_OP_NULL, 'op freed')
      end

      subroutine larger(in, inout, n, type)
      implicit none
      include 'mpif.h'
      integer n, in(n), inout(n), type, i
      call check(type .eq. MPI_INTEGER, 'type of the operation')
      do i = 1, n
        inout(i) = max(in(i), inout(i))
      end do
      end

      subroutine errors
      implicit none
      include 'mpif.h'
      external handler
      integer ierr, class, errh, seen, n
      common /error/ seen
      character*(MPI_MAX_ERROR_STRING) text

      call MPI_COMM_CREATE_ERRHANDLER(handler, errh, ierr)
      call MPI_COMM_SET_ERRHANDLER(MPI_COMM_WORLD, errh, ierr)
      seen = 0
      call MPI_SEND(n, 1, MPI_INTEGER, 9999, 0, MPI_COMM_WORLD, ierr)
      call MPI_ERROR_CLASS(ierr, class, ierr)
      call check(class .eq. MPI_ERR_RANK, 'error class')
      call check(seen .eq. MPI_ERR_RANK, 'error handler')
      call MPI_COMM_SET_ERRHANDLER(MPI_COMM_WORLD,
     &  MPI_ERRORS_ARE_FATAL, ierr)
      call MPI_ERRHANDLER_FREE(errh, ierr)
      text = 'x'
      call MPI_ERROR_STRING(MPI_ERR_RANK, text, n, ierr)
      call check(n .gt. 3 .and. text(n:n) .ne. ' ', 'error string')
      call check(text(n + 1:) .eq. ' ', 'padded')
      end

      subroutine handler(comm, code)
      implicit none
      include 'mpif.h'
      integer comm, code, seen, ierr
      common /error/ seen
      call check(comm .eq. MPI_COMM_WORLD, 'whose error')
      call MPI_ERROR_CLASS(code, seen, ierr)
      end

      subroutine strings
      implicit none
      include 'mpif.h'
      integer ierr, n, info
      character*(MPI_MAX_OBJECT_NAME) name
      character*4 short
      character*20 value
      logical flag

      call MPI_COMM_SET_NAME(MPI_COMM_SELF, 'a  name   ', ierr)
      call MPI_COMM_GET_NAME(MPI_COMM_SELF, name, n, ierr)
      call check(n .eq. 7 .and. name .eq. 'a  name', 'name')
      call MPI_COMM_GET_NAME(MPI_COMM_SELF, short, n, ierr)
      call check(short .eq. 'a  n', 'short name')
      call MPI_INFO_CREATE(info, ierr)
      call MPI_INFO_SET(info, '  key ', '  a value ', ierr)
      value = 'xxxxxxxxxxxxxxxxxxxx'
      call MPI_INFO_GET(info, 'key', 20, value, flag, ierr)
      call check(flag .and. value .eq. 'a value', 'info')
      value = 'same'
      call MPI_INFO_GET(info, 'none', 20, value, flag, ierr)
      call check(.not. flag .and. value .eq. 'same', 'no such key')
      call MPI_INFO_GET_VALUELEN(info, 'key', n, flag, ierr)
      call check(flag .and. n .eq. 7, 'length')
      call MPI_INFO_GET_NTHKEY(info, 0, value, ierr)
      call check(value .eq. 'key', 'nth key')
      n = 3
      call MPI_INFO_GET_STRING(info, 'key', n, value, flag, ierr)
      call check(flag .and. n .eq. 7 .and. value .eq. 'a v', 'string')
      call MPI_INFO_FREE(info, ierr)
      call check(info .eq. MPI_INFO_NULL, 'info freed')
      call MPI_GET_PROCESSOR_NAME(name, n, ierr)
      call check(n .gt. 0 .and. name(n + 1:) .eq. ' ', 'processor')
      end

      subroutine topologies
      implicit none
      include 'mpif.h'
      integer rank, size, ierr, cart, graph, dims(2), coords(2), n
      common /who/ rank, size
      integer other(2), neighbors(1), weights(1), left, right
      logical periods(2), got(2), weighted

      dims(1) = size
      dims(2) = 1
      periods(1) = .true.
      periods(2) = .false.
      call MPI_CART_CREATE(MPI_COMM_WORLD, 2, dims, periods, .false.,
     &  cart, ierr)
      call MPI_CART_GET(cart, 2, other, got, coords, ierr)
      call check(other(1) .eq. size .and. coords(1) .eq. rank, 'cart')
      call check(got(1) .and. .not. got(2), 'periods')
      call MPI_CART_SHIFT(cart, 0, 1, left, right, ierr)
      call check(right .eq. mod(rank + 1, size), 'shift')
      got(1) = .false.
      got(2) = .true.
      call MPI_CART_SUB(cart, got, graph, ierr)
      call MPI_COMM_SIZE(graph, n, ierr)
      call check(n .eq. 1, 'sub')
      call MPI_COMM_FREE(graph, ierr)
      call MPI_COMM_FREE(cart, ierr)

      neighbors(1) = right
      coords(1) = left
      call MPI_DIST_GRAPH_CREATE_ADJACENT(MPI_COMM_WORLD, 1, coords,
     &  MPI_UNWEIGHTED, 1, neighbors, MPI_UNWEIGHTED, MPI_INFO_NULL,
     &  .false., graph, ierr)
      call MPI_DIST_GRAPH_NEIGHBORS_COUNT(graph, n, dims(1), weighted,
     &  ierr)
      call check(n .eq. 1 .and. .not. weighted, 'unweighted')
      call MPI_COMM_FREE(graph, ierr)
      weights(1) = 3
      call MPI_DIST_GRAPH_CREATE_ADJACENT(MPI_COMM_WORLD, 1, coords,
     &  weights, 1, neighbors, weights, MPI_INFO_NULL, .false., graph,
     &  ierr)
      call MPI_DIST_GRAPH_NEIGHBORS(graph, 1, other, dims, 1,
     &  neighbors, weights, ierr)
      call check(other(1) .eq. left .and. dims(1) .eq. 3, 'weighted')
      call MPI_COMM_FREE(graph, ierr)
      end

      subroutine others
      implicit none
      include 'mpif.h'
      integer ierr, group, some, ranges(3, 1), n, version, sub
      integer rank, size
      common /who/ rank, size
      double precision before
      logical flag
      integer(kind=MPI_ADDRESS_KIND) a, b

      before = MPI_WTIME()
      call check(MPI_WTIME() .ge. before, 'wtime')
      call check(PMPI_WTICK() .gt. 0, 'wtick')
      a = 100
      b = MPI_AINT_ADD(a, int(28, MPI_ADDRESS_KIND))
      call check(b .eq. 128 .and. MPI_AINT_DIFF(b, a) .eq. 28, 'aint')
      call MPI_COMM_GROUP(MPI_COMM_WORLD, group, ierr)
      ranges(1, 1) = size - 1
      ranges(2, 1) = 0
      ranges(3, 1) = -1
      call MPI_GROUP_RANGE_INCL(group, 1, ranges, some, ierr)
      call MPI_GROUP_RANK(some, n, ierr)
      call check(n .eq. size - 1 - rank, 'ranges')
      call MPI_GROUP_FREE(group, ierr)
      call MPI_GROUP_FREE(some, ierr)
      call MPI_GET_VERSION(version, sub, ierr)
      call check(version .eq. MPI_VERSION, 'version')
      call PMPI_INITIALIZED(flag, ierr)
      call check(flag, 'initialized')
      end
