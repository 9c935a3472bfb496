! SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
!
! The module mpi: interfaces for everything, buffers of any type and rank,
! new-style attributes, generalized requests, memory, MPI_SIZEOF.
module state
  use mpi
  implicit none
  integer :: rank, size, ierr, deleted, queried, freed, cancelled
contains
  subroutine check(good, what)
    logical, intent(in) :: good
    character(*), intent(in) :: what
    if (good) return
    print *, 'rank', rank, ': wrong: ', what
    call MPI_Abort(MPI_COMM_WORLD, 1, ierr)
  end subroutine

  subroutine copy(comm, key, extra, in, out, flag, err)
    integer :: comm, key, err, n
    integer(MPI_ADDRESS_KIND) :: extra, in, out
    logical :: flag
    call MPI_Comm_size(comm, n, err)
    out = in + extra
    flag = .true.
    err = MPI_SUCCESS
  end subroutine

  subroutine delete(comm, key, val, extra, err)
    integer :: comm, key, err
    integer(MPI_ADDRESS_KIND) :: val, extra
    deleted = deleted + 1
    err = MPI_SUCCESS
  end subroutine

  subroutine query(extra, status, err)
    integer(MPI_ADDRESS_KIND) :: extra
    integer :: status(MPI_STATUS_SIZE), err
    call MPI_Status_set_elements(status, MPI_INTEGER, int(extra), err)
    call MPI_Status_set_cancelled(status, .false., err)
    status(MPI_SOURCE) = 1
    status(MPI_TAG) = 2
    queried = queried + 1
  end subroutine

  subroutine release(extra, err)
    integer(MPI_ADDRESS_KIND) :: extra
    integer :: err
    call check(extra == 12, 'extra state')
    freed = freed + 1
    err = MPI_SUCCESS
  end subroutine

  subroutine cancel(extra, complete, err)
    integer(MPI_ADDRESS_KIND) :: extra
    logical :: complete
    integer :: err
    if (.not. complete) cancelled = cancelled + 1
    err = MPI_SUCCESS
  end subroutine
end module

program main
  use state
  implicit none

  call MPI_Init_thread(MPI_THREAD_SERIALIZED, ierr, ierr)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
  call MPI_Comm_size(MPI_COMM_WORLD, size, ierr)
  call any_buffer
  call in_place
  call attributes
  call requests
  call memory
  call sizes
  call statuses
  call MPI_Finalize(ierr)
contains

  ! Scalars, arrays of any rank, characters and sections, by one interface.
  subroutine any_buffer
    complex(8) :: z, zz
    character(5) :: text
    integer(1) :: cube(2, 3, 4)
    real :: a(4, 4), b(4)
    type point
      sequence
      integer :: x, y
    end type
    type(point) :: p
    integer :: i

    z = cmplx(rank, 2, 8)
    call MPI_Reduce(z, zz, 1, MPI_DOUBLE_COMPLEX, MPI_SUM, 0, MPI_COMM_WORLD, ierr)
    if (rank == 0) call check(zz == cmplx(size * (size - 1) / 2, 2 * size, 8), 'complex')
    text = merge('hello', '     ', rank == 0)
    call MPI_Bcast(text, 5, MPI_CHARACTER, 0, MPI_COMM_WORLD, ierr)
    call check(text == 'hello', 'characters')
    cube = int(rank, 1)
    call MPI_Bcast(cube, 24, MPI_INTEGER1, size - 1, MPI_COMM_WORLD, ierr)
    call check(all(cube == size - 1), 'rank 3')
    p = point(rank, 5)
    call MPI_Bcast(p, 2, MPI_INTEGER, 0, MPI_COMM_WORLD, ierr)
    call check(p%x == 0 .and. p%y == 5, 'derived type')
    a = reshape([(real(i), i=1,16)], [4, 4])
    b = 0
    call MPI_Sendrecv(a(2, :), 4, MPI_REAL, rank, 1, b, 4, MPI_REAL, rank, 1, &
      MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierr)
    call check(all(b == a(2, :)), 'section')
    a = 0
    call MPI_Sendrecv(b, 4, MPI_REAL, rank, 1, a(3, :), 4, MPI_REAL, rank, 1, &
      MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierr)
    call check(all(a(3, :) == b) .and. all(a(1, :) == 0), 'into a section')
  end subroutine

  ! What stands for arrays that do not count.
  subroutine in_place
    integer :: x(size), i

    x = [(100 * rank + i - 1, i=1,size)]
    call MPI_Alltoallv(MPI_IN_PLACE, 0, 0, MPI_DATATYPE_NULL, x, [(1, i=1,size)], [(i - 1, i=1,size)], &
      MPI_INTEGER, MPI_COMM_WORLD, ierr)
    call check(all(x == [(100 * (i - 1) + rank, i=1,size)]), 'alltoallv in place')
  end subroutine

  subroutine attributes
    integer :: key, dupkey, nokey, comm
    integer(MPI_ADDRESS_KIND) :: big, got
    logical :: flag

    big = 2_8**40 + 1
    deleted = 0
    call MPI_Comm_create_keyval(copy, delete, key, 7_MPI_ADDRESS_KIND, ierr)
    call MPI_Comm_create_keyval(MPI_COMM_DUP_FN, MPI_COMM_NULL_DELETE_FN, dupkey, 0_MPI_ADDRESS_KIND, ierr)
    call MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, MPI_COMM_NULL_DELETE_FN, nokey, 0_MPI_ADDRESS_KIND, ierr)
    call MPI_Comm_set_attr(MPI_COMM_WORLD, key, big, ierr)
    call MPI_Comm_set_attr(MPI_COMM_WORLD, dupkey, -big, ierr)
    call MPI_Comm_set_attr(MPI_COMM_WORLD, nokey, big, ierr)
    call MPI_Comm_dup(MPI_COMM_WORLD, comm, ierr)
    call MPI_Comm_get_attr(comm, key, got, flag, ierr)
    call check(flag .and. got == big + 7, 'copy')
    call MPI_Comm_get_attr(comm, dupkey, got, flag, ierr)
    call check(flag .and. got == -big, 'dup_fn')
    call MPI_Comm_get_attr(comm, nokey, got, flag, ierr)
    call check(.not. flag, 'null_copy_fn')
    call MPI_Comm_free(comm, ierr)
    call MPI_Comm_delete_attr(MPI_COMM_WORLD, key, ierr)
    call check(deleted == 2, 'deleted')
    call MPI_Comm_free_keyval(key, ierr)
    call MPI_Comm_free_keyval(dupkey, ierr)
    call MPI_Comm_free_keyval(nokey, ierr)
  end subroutine

  subroutine requests
    integer :: req, status(MPI_STATUS_SIZE), n, psend, precv, i
    integer :: x, y ! the interfaces tell the compiler that they are kept
    logical :: flag

    queried = 0; freed = 0; cancelled = 0
    call MPI_Grequest_start(query, release, cancel, 12_MPI_ADDRESS_KIND, req, ierr)
    call MPI_Test(req, flag, status, ierr)
    call check(.not. flag, 'not complete')
    call MPI_Cancel(req, ierr)
    call check(cancelled == 1 .and. req /= MPI_REQUEST_NULL, 'cancel')
    call MPI_Grequest_complete(req, ierr)
    call MPI_Wait(req, status, ierr)
    call check(queried == 1 .and. freed == 1 .and. req == MPI_REQUEST_NULL, 'grequest')
    call MPI_Get_count(status, MPI_INTEGER, n, ierr)
    call check(n == 12 .and. status(MPI_SOURCE) == 1 .and. status(MPI_TAG) == 2, 'its status')

    call MPI_Send_init(x, 1, MPI_INTEGER, mod(rank + 1, size), 4, MPI_COMM_WORLD, psend, ierr)
    call MPI_Recv_init(y, 1, MPI_INTEGER, MPI_ANY_SOURCE, 4, MPI_COMM_WORLD, precv, ierr)
    do i = 1, 3
      x = 10 * rank + i
      call MPI_Startall(2, [psend, precv], ierr)
      call MPI_Wait(precv, status, ierr)
      call MPI_Wait(psend, MPI_STATUS_IGNORE, ierr)
      call check(y == 10 * status(MPI_SOURCE) + i, 'persistent')
    end do
    call MPI_Request_free(psend, ierr)
    call MPI_Request_free(precv, ierr)
  end subroutine

  subroutine memory
    use, intrinsic :: iso_c_binding, only: c_ptr, c_f_pointer
    integer(MPI_ADDRESS_KIND) :: base
    type(c_ptr) :: p
    integer, pointer :: x(:)
    integer :: buffer(1000), n

    call MPI_Alloc_mem(400_MPI_ADDRESS_KIND, MPI_INFO_NULL, base, ierr)
    call check(base /= 0, 'alloc_mem')
    call c_f_pointer(transfer(base, p), x, [100])
    call MPI_Free_mem(x, ierr)
    call MPI_Alloc_mem(400_MPI_ADDRESS_KIND, MPI_INFO_NULL, p, ierr)
    call c_f_pointer(p, x, [100])
    x = rank
    call check(sum(x) == 100 * rank, 'as c_ptr')
    call MPI_Free_mem(x, ierr)
    call check(ierr == MPI_SUCCESS, 'free_mem')
    call MPI_Buffer_attach(buffer, 4000, ierr)
    call MPI_Bsend(rank, 1, MPI_INTEGER, rank, 9, MPI_COMM_WORLD, ierr)
    call MPI_Recv(n, 1, MPI_INTEGER, rank, 9, MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierr)
    call check(n == rank, 'bsend')
    call MPI_Buffer_detach(buffer, n, ierr)
    call check(n == 4000, 'detach')
  end subroutine

  subroutine sizes
    integer :: n
    logical(1) :: l
    complex(16) :: z(3)
    character(3) :: c

    call MPI_Sizeof(n, n, ierr)
    call check(n == 4, 'sizeof integer')
    call MPI_Sizeof(l, n, ierr)
    call check(n == 1, 'sizeof logical')
    call MPI_Sizeof(z, n, ierr)
    call check(n == 32, 'sizeof complex')
    call MPI_Sizeof(c(1:1), n, ierr)
    call check(n == 1, 'sizeof character')
    call MPI_Type_match_size(MPI_TYPECLASS_COMPLEX, 32, n, ierr)
    call check(n == MPI_COMPLEX32, 'match_size')
  end subroutine

  subroutine statuses
    integer :: status(MPI_STATUS_SIZE), back(MPI_STATUS_SIZE)
    type(MPI_Status) :: new
    logical :: flag

    status = [3, 4, 5, 6, 7, 8, 9, 10]
    call MPI_Status_f2f08(status, new, ierr)
    call check(new%MPI_SOURCE == 3 .and. new%MPI_TAG == 4 .and. new%MPI_ERROR == 5, 'f2f08')
    call MPI_Status_f082f(new, back, ierr)
    call check(all(status == back), 'f082f')
    call MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_SELF, flag, MPI_STATUS_IGNORE, ierr)
    call check(.not. flag, 'iprobe')
  end subroutine
end program
