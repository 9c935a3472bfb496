! SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
!
! Windows from the module mpi: addresses and C pointers, handles as integers.
program fort_win_mpi
  use mpi
  use, intrinsic :: iso_c_binding, only: c_ptr, c_f_pointer
  implicit none
  integer, parameter :: n = 8
  integer :: rank, size, right, left, win, ierr, unit, request
  integer(MPI_ADDRESS_KIND) :: base, bytes, value, zero
  integer, pointer :: mem(:)
  integer :: status(MPI_STATUS_SIZE), v, old
  type(c_ptr) :: p
  logical :: flag

  zero = 0
  call MPI_Init(ierr)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
  call MPI_Comm_size(MPI_COMM_WORLD, size, ierr)
  right = mod(rank + 1, size)
  left = mod(rank + size - 1, size)
  bytes = 4 * n
  call MPI_Win_allocate(bytes, 4, MPI_INFO_NULL, MPI_COMM_WORLD, base, win, ierr)
  call check(base /= 0, 'an address')
  call MPI_Win_get_attr(win, MPI_WIN_BASE, value, flag, ierr)
  call check(flag .and. value == base, 'base')
  call MPI_Win_free(win, ierr)
  call MPI_Win_allocate(bytes, 4, MPI_INFO_NULL, MPI_COMM_WORLD, p, win, ierr)
  call c_f_pointer(p, mem, [n])
  mem = 0
  call MPI_Win_fence(0, win, ierr)
  v = rank + 1
  call MPI_Put(v, 1, MPI_INTEGER, right, zero, 1, MPI_INTEGER, win, ierr)
  call MPI_Accumulate(v, 1, MPI_INTEGER, 0, zero + 1, 1, MPI_INTEGER, MPI_SUM, win, ierr)
  call MPI_Win_fence(0, win, ierr)
  call check(mem(1) == left + 1, 'put')
  if (rank == 0) call check(mem(2) == size * (size + 1) / 2, 'accumulate')
  call MPI_Win_fence(MPI_MODE_NOSUCCEED, win, ierr)
  call MPI_Win_lock(MPI_LOCK_SHARED, right, 0, win, ierr)
  call MPI_Rget_accumulate(v, 1, MPI_INTEGER, old, 1, MPI_INTEGER, right, zero, 1, MPI_INTEGER, &
                           MPI_NO_OP, win, request, ierr)
  call MPI_Wait(request, status, ierr)
  call check(old == v, 'rget_accumulate')
  call MPI_Win_unlock(right, win, ierr)
  call MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN, ierr)
  call MPI_Win_unlock(right, win, ierr)
  call MPI_Error_class(ierr, old, unit)
  call check(old == MPI_ERR_RMA_SYNC, 'an error class')
  call MPI_Win_free(win, ierr)
  call check(win == MPI_WIN_NULL, 'free')
  call MPI_Finalize(ierr)

contains
  subroutine check(good, what)
    logical, intent(in) :: good
    character(*), intent(in) :: what
    integer :: code
    if (good) return
    print *, 'rank', rank, ': wrong: ', what
    call MPI_Abort(MPI_COMM_WORLD, 1, code)
  end subroutine
end program
