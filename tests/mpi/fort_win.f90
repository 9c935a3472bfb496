! SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
!
! Windows from mpi_f08: memory as a C pointer, sections of arrays on the origin's side,
! every synchronization, attributes.
program fort_win
  use mpi_f08
  use, intrinsic :: iso_c_binding
  implicit none
  integer, parameter :: n = 10
  integer :: rank, size, right, left

  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_size(MPI_COMM_WORLD, size)
  right = mod(rank + 1, size)
  left = mod(rank + size - 1, size)
  call created()
  call allocated_memory()
  call shared()
  call dynamic()
  call MPI_Finalize()

contains
  subroutine check(good, what)
    logical, intent(in) :: good
    character(*), intent(in) :: what
    if (good) return
    print *, 'rank', rank, ': wrong: ', what
    call MPI_Abort(MPI_COMM_WORLD, 1)
  end subroutine

  subroutine created()
    integer, asynchronous :: mem(n), from(2 * n), i
    integer(MPI_ADDRESS_KIND) :: value
    type(MPI_Win) :: win
    logical :: flag

    mem = -1
    from = [(100 * rank + i, i = 1, 2 * n)]
    call MPI_Win_create(mem, 4_MPI_ADDRESS_KIND * n, 4, MPI_INFO_NULL, MPI_COMM_WORLD, win)
    call MPI_Win_get_attr(win, MPI_WIN_SIZE, value, flag)
    call check(flag .and. value == 4 * n, 'size')
    call MPI_Win_get_attr(win, MPI_WIN_DISP_UNIT, value, flag)
    call check(flag .and. value == 4, 'unit')
    call MPI_Win_get_attr(win, MPI_WIN_CREATE_FLAVOR, value, flag)
    call check(flag .and. value == MPI_WIN_FLAVOR_CREATE, 'flavor')
    call MPI_Win_fence(MPI_MODE_NOPRECEDE, win)
    call MPI_Put(from(1:2 * n:2), n, MPI_INTEGER, right, 0_MPI_ADDRESS_KIND, n, MPI_INTEGER, win)
    call MPI_Win_fence(0, win)
    call check(all(mem == [(100 * left + i, i = 1, 2 * n, 2)]), 'a section that is put')
    from = 0
    call MPI_Get(from(2:2 * n:2), n, MPI_INTEGER, right, 0_MPI_ADDRESS_KIND, n, MPI_INTEGER, win)
    call MPI_Win_fence(MPI_MODE_NOSUCCEED, win)
    call check(all(from(2:2 * n:2) == [(100 * rank + i, i = 1, 2 * n, 2)]), 'a section that is got')
    call check(all(from(1:2 * n:2) == 0), 'what lies between')
    call MPI_Win_free(win)
    call check(win == MPI_WIN_NULL, 'free')
  end subroutine

  subroutine allocated_memory()
    type(c_ptr) :: p
    type(MPI_Win) :: win
    type(MPI_Group) :: group, to, from
    type(MPI_Request) :: request
    integer, pointer :: mem(:)
    integer, asynchronous :: one, old, expect
    logical :: flag

    call MPI_Win_allocate(4_MPI_ADDRESS_KIND * n, 4, MPI_INFO_NULL, MPI_COMM_WORLD, p, win)
    call c_f_pointer(p, mem, [n])
    mem = 0
    call MPI_Barrier(MPI_COMM_WORLD)
    one = 1
    call MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, win)
    call MPI_Accumulate(one, 1, MPI_INTEGER, 0, 1_MPI_ADDRESS_KIND, 1, MPI_INTEGER, MPI_SUM, win)
    call MPI_Win_unlock(0, win)
    call MPI_Win_lock_all(0, win)
    call MPI_Fetch_and_op(one, old, MPI_INTEGER, 0, 2_MPI_ADDRESS_KIND, MPI_SUM, win)
    call MPI_Win_flush(0, win)
    call check(old >= 0 .and. old < size, 'fetch and op')
    expect = -5
    call MPI_Compare_and_swap(one, expect, old, MPI_INTEGER, 0, 3_MPI_ADDRESS_KIND, win)
    call MPI_Win_flush_all(win)
    call check(old == 0, 'compare and swap')
    call MPI_Rget(old, 1, MPI_INTEGER, rank, 5_MPI_ADDRESS_KIND, 1, MPI_INTEGER, win, request)
    call MPI_Wait(request, MPI_STATUS_IGNORE)
    call check(old == 0, 'rget')
    call MPI_Win_sync(win)
    call MPI_Win_unlock_all(win)
    call MPI_Barrier(MPI_COMM_WORLD)
    if (rank == 0) call check(mem(2) == size .and. mem(3) == size .and. mem(4) == 0, 'sums')
    call MPI_Win_get_group(win, group)
    call MPI_Group_incl(group, 1, [right], to)
    call MPI_Group_incl(group, 1, [left], from)
    call MPI_Win_post(from, 0, win)
    call MPI_Win_start(to, 0, win)
    call MPI_Put(rank, 1, MPI_INTEGER, right, 8_MPI_ADDRESS_KIND, 1, MPI_INTEGER, win)
    call MPI_Win_complete(win)
    flag = .false.
    do while (.not. flag)
      call MPI_Win_test(win, flag)
    end do
    call check(mem(9) == left, 'post and start')
    call MPI_Group_free(group)
    call MPI_Group_free(to)
    call MPI_Group_free(from)
    call MPI_Win_free(win)
  end subroutine

  subroutine shared()
    type(c_ptr) :: p
    type(MPI_Comm) :: host
    type(MPI_Win) :: win
    integer, pointer :: mem(:), other(:)
    integer(MPI_ADDRESS_KIND) :: bytes
    integer :: unit, me, count, i

    call MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, host)
    call MPI_Comm_rank(host, me)
    call MPI_Comm_size(host, count)
    call MPI_Win_allocate_shared(4_MPI_ADDRESS_KIND * n, 4, MPI_INFO_NULL, host, p, win)
    call c_f_pointer(p, mem, [n])
    call MPI_Win_fence(0, win)
    mem = me
    call MPI_Win_fence(0, win)
    do i = 0, count - 1
      call MPI_Win_shared_query(win, i, bytes, unit, p)
      call check(bytes == 4 * n .and. unit == 4, 'shared query')
      call c_f_pointer(p, other, [n])
      call check(all(other == i), 'shared memory')
    end do
    call MPI_Win_fence(0, win)
    call MPI_Win_free(win)
    call MPI_Comm_free(host)
  end subroutine

  subroutine dynamic()
    integer, asynchronous :: mem(n)
    integer(MPI_ADDRESS_KIND) :: mine, all_of(0:63)
    type(MPI_Win) :: win

    mem = 0
    call MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, win)
    call MPI_Win_attach(win, mem, 4_MPI_ADDRESS_KIND * n)
    call MPI_Get_address(mem, mine)
    call MPI_Allgather(mine, 1, MPI_AINT, all_of, 1, MPI_AINT, MPI_COMM_WORLD)
    call MPI_Win_lock(MPI_LOCK_SHARED, right, 0, win)
    call MPI_Put(rank + 7, 1, MPI_INTEGER, right, MPI_Aint_add(all_of(right), 4_MPI_ADDRESS_KIND), &
                 1, MPI_INTEGER, win)
    call MPI_Win_unlock(right, win)
    call MPI_Barrier(MPI_COMM_WORLD)
    call check(mem(2) == left + 7, 'dynamic')
    call MPI_Win_detach(win, mem)
    call MPI_Win_free(win)
  end subroutine
end program
