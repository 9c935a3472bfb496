! SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
!
! Sections of arrays as buffers in mpi_f08: MPI sees the elements where they are,
! also after a call that does not wait.
program main
  use mpi_f08
  implicit none
  integer :: rank, size

  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_size(MPI_COMM_WORLD, size)
  call blocking
  call nonblocking
  call persistent
  call parts
  call derived
  call blocks
  call reductions
  call started
  call external32
  call texts
  call MPI_Finalize()
contains

  subroutine check(good, what)
    logical, intent(in) :: good
    character(*), intent(in) :: what
    if (good) return
    print *, 'rank', rank, ': wrong: ', what
    call MPI_Abort(MPI_COMM_WORLD, 1)
  end subroutine

  function counted(n) result(a)
    integer, intent(in) :: n
    integer :: a(n), i
    a = [(1000 * rank + i, i=1,n)]
  end function

  subroutine blocking
    integer :: a(6, 5, 4), b(6, 5, 4), flat(12)

    a = reshape(counted(120), [6, 5, 4])
    b = 0
    call MPI_Sendrecv(a(1:6:2, 2, :), 12, MPI_INTEGER, rank, 1, b(6:2:-2, :4, 3), 12, MPI_INTEGER, &
      rank, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE)
    call check(all(reshape(b(6:2:-2, :4, 3), [12]) == reshape(a(1:6:2, 2, :), [12])), 'sendrecv')
    call check(count(b /= 0) == 12, 'nothing else')
    call MPI_Sendrecv(a(2, :, 1:4:3), 10, MPI_INTEGER, rank, 1, flat, 10, MPI_INTEGER, &
      rank, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE)
    call check(all(flat(:10) == reshape(a(2, :, 1:4:3), [10])), 'to contiguous')
    b = rank
    call MPI_Bcast(b(::3, ::2, ::2), 12, MPI_INTEGER, 0, MPI_COMM_WORLD)
    call check(all(b(::3, ::2, ::2) == 0), 'bcast')
    call check(sum(b) == rank * 108, 'bcast, nothing else')
  end subroutine

  subroutine nonblocking
    integer, asynchronous :: a(8, 8), b(8, 8)
    type(MPI_Request) :: reqs(2)

    a = reshape(counted(64), [8, 8])
    b = 0
    call MPI_Irecv(b(3, :), 8, MPI_INTEGER, rank, 2, MPI_COMM_WORLD, reqs(1))
    call MPI_Isend(a(5, :), 8, MPI_INTEGER, rank, 2, MPI_COMM_WORLD, reqs(2))
    call MPI_Waitall(2, reqs, MPI_STATUSES_IGNORE)
    call MPI_F_sync_reg(b)
    call check(all(b(3, :) == a(5, :)) .and. count(b /= 0) == 8, 'isend, irecv')
  end subroutine

  subroutine persistent
    integer, asynchronous :: a(4, 6), b(4, 6)
    type(MPI_Request) :: reqs(2)
    integer :: i

    a = 0
    b = 0
    call MPI_Recv_init(b(2, :), 6, MPI_INTEGER, rank, 3, MPI_COMM_WORLD, reqs(1))
    call MPI_Send_init(a(4, :), 6, MPI_INTEGER, rank, 3, MPI_COMM_WORLD, reqs(2))
    do i = 1, 3
      a = i
      call MPI_F_sync_reg(a)
      call MPI_Startall(2, reqs)
      call MPI_Waitall(2, reqs, MPI_STATUSES_IGNORE)
      call MPI_F_sync_reg(b)
      call check(all(b(2, :) == i) .and. all(b(1, :) == 0), 'persistent')
    end do
    call MPI_Request_free(reqs(1))
    call MPI_Request_free(reqs(2))
  end subroutine

  ! Fewer elements than the section has, and values of several elements.
  subroutine parts
    integer :: a(10, 4, 3), b(10, 4, 3), flat(60), n, i
    complex :: z(4), zz(9)
    real :: pairs(2, 9)

    a = reshape(counted(120), [10, 4, 3])
    flat = reshape(a(::2, :, :), [60])
    do n = 0, 60
      b = 0
      call MPI_Sendrecv(a(::2, :, :), n, MPI_INTEGER, rank, 1, b(2::2, :, :), n, MPI_INTEGER, &
        rank, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE)
      call check(all([(pick(b, i) == merge(flat(i), 0, i <= n), i=1,60)]), 'part of a section')
    end do
    pairs = reshape([(real(i), i=1,18)], [2, 9])
    call MPI_Sendrecv(pairs(:, ::2), 5, MPI_COMPLEX, rank, 1, zz, 9, MPI_COMPLEX, rank, 1, &
      MPI_COMM_WORLD, MPI_STATUS_IGNORE)
    call check(zz(1) == (1, 2) .and. zz(5) == (17, 18), 'larger type')
    zz = 0
    z = [(cmplx(i, -i), i=1,4)]
    call MPI_Sendrecv(z, 4, MPI_COMPLEX, rank, 1, zz(::2), 8, MPI_REAL, rank, 1, &
      MPI_COMM_WORLD, MPI_STATUS_IGNORE)
    call check(all(zz(1:7:2) == z) .and. all(zz(2::2) == 0), 'smaller type')
  end subroutine

  integer function pick(b, i)
    integer, intent(in) :: b(10, 4, 3), i
    integer :: flat(60)
    flat = reshape(b(2::2, :, :), [60])
    pick = flat(i)
  end function

  ! A datatype with gaps, over the elements of a section.
  subroutine derived
    integer, asynchronous :: a(20, 2), b(20, 2)
    type(MPI_Datatype) :: type
    type(MPI_Request) :: req
    integer :: i

    call MPI_Type_vector(3, 1, 3, MPI_INTEGER, type)
    call MPI_Type_commit(type)
    a(1, :) = 0
    a(:, 1) = [(i, i=1,20)]
    b = -1
    call MPI_Irecv(b(::2, 2), 1, type, rank, 4, MPI_COMM_WORLD, req)
    call MPI_Send(a(::2, 1), 1, type, rank, 4, MPI_COMM_WORLD)
    call MPI_Wait(req, MPI_STATUS_IGNORE)
    call MPI_F_sync_reg(b)
    call check(all(b([1, 7, 13], 2) == [1, 7, 13]) .and. count(b /= -1) == 3, 'gaps')
    call MPI_Type_free(type)
  end subroutine

  ! A block for each rank.
  subroutine blocks
    integer :: a(4, 2 * size), b(4, 2 * size), i

    a = 0
    a(3, :) = [(100 * rank + i, i=0,2 * size - 1)]
    b = -1
    call MPI_Alltoall(a(3, :), 2, MPI_INTEGER, b(2, :), 2, MPI_INTEGER, MPI_COMM_WORLD)
    call check(all(b(2, :) == [(100 * (i / 2) + 2 * rank + mod(i, 2), i=0,2 * size - 1)]), 'alltoall')
    call check(all(b(1, :) == -1), 'alltoall, nothing else')
    b = -1
    call MPI_Gather(a(3, 1:3:2), 2, MPI_INTEGER, b(4, :), 2, MPI_INTEGER, 0, MPI_COMM_WORLD)
    if (rank == 0) then
      if (size > 1) call check(all(b(4, 3:4) == [100, 102]), 'gather')
    else
      call check(all(b == -1), 'gather elsewhere')
    end if
    b = -1
    call MPI_Allgatherv(a(3, 1:2), 2, MPI_INTEGER, b(1, :), [(2, i=1,size)], [(2 * i, i=0,size - 1)], &
      MPI_INTEGER, MPI_COMM_WORLD)
    call check(all(b(1, 1::2) == [(100 * i, i=0,size - 1)]), 'allgatherv')
  end subroutine

  subroutine reductions
    integer :: a(3, 5), b(3, 5), i

    a = rank
    b = -1
    call MPI_Allreduce(a(1, :), b(2, :), 5, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD)
    call check(all(b(2, :) == size * (size - 1) / 2) .and. all(b(1, :) == -1), 'allreduce')
    a(1, :) = [(i, i=1,5)]
    call MPI_Allreduce(MPI_IN_PLACE, a(1, :), 5, MPI_INTEGER, MPI_MAX, MPI_COMM_WORLD)
    call check(all(a(1, :) == [(i, i=1,5)]) .and. all(a(2, :) == rank), 'in place')
    call MPI_Scan(a(1, :), b(3, :), 5_MPI_COUNT_KIND, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD)
    call check(all(b(3, :) == (rank + 1) * a(1, :)), 'scan')
  end subroutine

  ! Collectives that go on after the call, by request and by persistent request.
  subroutine started
    integer, asynchronous :: a(3, 5), b(3, 5)
    integer, asynchronous, allocatable :: c(:, :), d(:, :)
    type(MPI_Datatype), allocatable :: types(:)
    type(MPI_Request) :: req
    integer :: i

    a = rank
    b = -1
    call MPI_Iallreduce(a(1, :), b(2, :), 5, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, req)
    call MPI_Wait(req, MPI_STATUS_IGNORE)
    call MPI_F_sync_reg(b)
    call check(all(b(2, :) == size * (size - 1) / 2) .and. all(b(1, :) == -1), 'iallreduce')
    call MPI_Allreduce_init(a(3, :), b(1, :), 5, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL, req)
    do i = 1, 3
      a(3, :) = i * [1, 2, 3, 4, 5]
      b = -1
      call MPI_Start(req)
      call MPI_Wait(req, MPI_STATUS_IGNORE)
      call check(all(b(1, :) == size * i * [1, 2, 3, 4, 5]) .and. all(b(2, :) == -1), 'allreduce_init')
    end do
    call MPI_Request_free(req)
    allocate(types(size), c(2, size), d(2, size))
    types = MPI_INTEGER
    c = rank
    d = -1
    call MPI_Ialltoallw(c(1, :), [(1, i=1,size)], [(4 * i, i=0,size - 1)], types, d(2, :), &
      [(1, i=1,size)], [(4 * i, i=0,size - 1)], types, MPI_COMM_WORLD, req)
    call MPI_Wait(req, MPI_STATUS_IGNORE)
    call check(all(d(2, :) == [(i, i=0,size - 1)]) .and. all(d(1, :) == -1), 'ialltoallw')
  end subroutine

  ! A string and a buffer with descriptors.
  subroutine external32
    integer :: a(2, 4), b(2, 4)
    character(100) :: packed
    integer(MPI_ADDRESS_KIND) :: at

    a = rank + 5
    b = 0
    at = 0
    call MPI_Pack_external('external32  ', a(1, :), 4, MPI_INTEGER, packed, 100_MPI_ADDRESS_KIND, at)
    call check(at == 16 .and. ichar(packed(1:1)) == 0, 'pack_external')
    at = 0
    call MPI_Unpack_external('external32', packed, 100_MPI_ADDRESS_KIND, at, b(2, :), 4, MPI_INTEGER)
    call check(all(b(2, :) == rank + 5) .and. all(b(1, :) == 0), 'unpack_external')
  end subroutine

  subroutine texts
    character(3) :: words(6), other(6)

    words = ['abc', 'def', 'ghi', 'jkl', 'mno', 'pqr']
    other = '---'
    call MPI_Sendrecv(words(::2), 9, MPI_CHARACTER, rank, 1, other(2::2), 9, MPI_CHARACTER, rank, 1, &
      MPI_COMM_WORLD, MPI_STATUS_IGNORE)
    call check(all(other == ['---', 'abc', '---', 'ghi', '---', 'mno']), 'characters')
  end subroutine
end program
