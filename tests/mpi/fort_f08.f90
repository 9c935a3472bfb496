! SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
!
! The module mpi_f08: handles with types, no ierror, callbacks, large counts.
module state
  use mpi_f08
  use, intrinsic :: iso_c_binding
  implicit none
  integer :: rank, size, deleted, seen, queried
contains
  subroutine check(good, what)
    logical, intent(in) :: good
    character(*), intent(in) :: what
    if (good) return
    print *, 'rank', rank, ': wrong: ', what
    call MPI_Abort(MPI_COMM_WORLD, 1)
  end subroutine

  subroutine copy(oldcomm, comm_keyval, extra_state, attribute_val_in, attribute_val_out, flag, ierror)
    type(MPI_Comm) :: oldcomm
    integer :: comm_keyval, ierror
    integer(MPI_ADDRESS_KIND) :: extra_state, attribute_val_in, attribute_val_out
    logical :: flag
    call check(oldcomm == MPI_COMM_WORLD, 'handle in a callback')
    attribute_val_out = attribute_val_in + extra_state
    flag = .true.
    ierror = MPI_SUCCESS
  end subroutine

  subroutine delete(comm, comm_keyval, attribute_val, extra_state, ierror)
    type(MPI_Comm) :: comm
    integer :: comm_keyval, ierror
    integer(MPI_ADDRESS_KIND) :: attribute_val, extra_state
    deleted = deleted + 1
    ierror = MPI_SUCCESS
  end subroutine

  subroutine add(invec, inoutvec, len, datatype)
    type(c_ptr), value :: invec, inoutvec
    integer :: len
    type(MPI_Datatype) :: datatype
    real(8), pointer :: a(:), b(:)
    call check(datatype == MPI_REAL8, 'type in an operation')
    call c_f_pointer(invec, a, [len])
    call c_f_pointer(inoutvec, b, [len])
    b = a + b
  end subroutine

  subroutine add_c(invec, inoutvec, len, datatype)
    type(c_ptr), value :: invec, inoutvec
    integer(MPI_COUNT_KIND) :: len
    type(MPI_Datatype) :: datatype
    integer, pointer :: a(:), b(:)
    call c_f_pointer(invec, a, [len])
    call c_f_pointer(inoutvec, b, [len])
    b = a + b
  end subroutine

  subroutine handler(comm, error_code)
    type(MPI_Comm) :: comm
    integer :: error_code
    call check(comm == MPI_COMM_SELF, 'whose error')
    call MPI_Error_class(error_code, seen)
  end subroutine

  subroutine query(extra_state, status, ierror)
    integer(MPI_ADDRESS_KIND) :: extra_state
    type(MPI_Status) :: status
    integer :: ierror
    call MPI_Status_set_elements(status, MPI_INTEGER, int(extra_state, MPI_COUNT_KIND))
    call MPI_Status_set_cancelled(status, .false.)
    status%MPI_TAG = 5
    queried = queried + 1
    ierror = MPI_SUCCESS
  end subroutine

  subroutine release(extra_state, ierror)
    integer(MPI_ADDRESS_KIND) :: extra_state
    integer :: ierror
    ierror = MPI_SUCCESS
  end subroutine

  subroutine cancel(extra_state, complete, ierror)
    integer(MPI_ADDRESS_KIND) :: extra_state
    logical :: complete
    integer :: ierror
    ierror = MPI_SUCCESS
  end subroutine
end module

program main
  use state
  implicit none

  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_size(MPI_COMM_WORLD, size)
  call handles
  call messages
  call several
  call collectives
  call callbacks
  call large
  call types
  call strings
  call memory
  call sizes
  call topologies
  call statuses
  call MPI_Finalize()
contains

  subroutine handles
    type(MPI_Comm) :: comm, other
    type(MPI_Group) :: group
    integer :: n, ierr

    call check(MPI_COMM_WORLD%MPI_VAL == 257, 'value')
    call check(MPI_COMM_WORLD /= MPI_COMM_SELF, 'operators')
    call MPI_Comm_dup(MPI_COMM_WORLD, comm, ierr)
    call check(ierr == MPI_SUCCESS .and. comm /= MPI_COMM_WORLD, 'dup')
    other = MPI_Comm(comm%MPI_VAL)
    call MPI_Comm_compare(comm, other, n)
    call check(n == MPI_IDENT .and. other == comm, 'by value')
    call MPI_Comm_group(comm, group)
    call MPI_Group_size(group, n)
    call check(n == size, 'group')
    call MPI_Group_free(group)
    call check(group == MPI_GROUP_NULL, 'freed')
    call MPI_Comm_free(comm)
    call check(comm == MPI_COMM_NULL, 'comm freed')
  end subroutine

  subroutine messages
    integer, asynchronous :: x, y
    integer :: n
    type(MPI_Request) :: req
    type(MPI_Status) :: status
    type(MPI_Message) :: message
    logical :: flag

    x = rank
    call MPI_Irecv(y, 1, MPI_INTEGER, MPI_ANY_SOURCE, 1, MPI_COMM_WORLD, req)
    call MPI_Send(x, 1, MPI_INTEGER, mod(rank + 1, size), 1, MPI_COMM_WORLD)
    call MPI_Wait(req, status)
    call MPI_F_sync_reg(y)
    call check(req == MPI_REQUEST_NULL .and. y == status%MPI_SOURCE, 'ring')
    call check(status%MPI_TAG == 1, 'tag')
    call MPI_Get_count(status, MPI_INTEGER, n)
    call check(n == 1, 'count')
    call MPI_Isend(x, 1, MPI_INTEGER, rank, 2, MPI_COMM_WORLD, req)
    call MPI_Mprobe(rank, 2, MPI_COMM_WORLD, message, status)
    call MPI_Mrecv(y, 1, MPI_INTEGER, message, MPI_STATUS_IGNORE)
    call check(message == MPI_MESSAGE_NULL .and. y == rank, 'mrecv')
    call MPI_Wait(req, MPI_STATUS_IGNORE)
    call MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, flag, MPI_STATUS_IGNORE)
    call check(.not. flag, 'iprobe')
  end subroutine

  subroutine several
    type(MPI_Request) :: reqs(20)
    type(MPI_Status) :: statuses(20)
    integer, asynchronous :: in(20)
    integer :: i, index, outcount, indices(20)
    logical :: flag

    do i = 1, 20
      call MPI_Irecv(in(i), 1, MPI_INTEGER, rank, i, MPI_COMM_WORLD, reqs(i))
    end do
    call MPI_Send(5, 1, MPI_INTEGER, rank, 13, MPI_COMM_WORLD)
    call MPI_Waitany(20, reqs, index, statuses(1))
    call check(index == 13 .and. reqs(13) == MPI_REQUEST_NULL, 'waitany')
    call MPI_Send(5, 1, MPI_INTEGER, rank, 20, MPI_COMM_WORLD)
    call MPI_Waitsome(20, reqs, outcount, indices, statuses)
    call check(outcount == 1 .and. indices(1) == 20 .and. statuses(1)%MPI_TAG == 20, 'waitsome')
    do i = 1, 19
      if (i /= 13) call MPI_Send(i, 1, MPI_INTEGER, rank, i, MPI_COMM_WORLD)
    end do
    call MPI_Waitall(20, reqs, statuses)
    call check(statuses(3)%MPI_TAG == 3, 'waitall')
    call MPI_Testall(20, reqs, flag, MPI_STATUSES_IGNORE)
    call check(flag, 'testall')
  end subroutine

  subroutine collectives
    integer :: x(2), i
    integer, allocatable :: all(:)
    type(MPI_Datatype), allocatable :: types(:)

    allocate(all(size), types(size))
    x = [rank, 1]
    call MPI_Allreduce(MPI_IN_PLACE, x, 2, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD)
    call check(x(1) == size * (size - 1) / 2 .and. x(2) == size, 'in place')
    all = [(100 * rank + i - 1, i=1,size)]
    types = MPI_INTEGER
    call MPI_Alltoallw(MPI_IN_PLACE, [0], [0], [MPI_DATATYPE_NULL], all, [(1, i=1,size)], &
      [(4 * (i - 1), i=1,size)], types, MPI_COMM_WORLD)
    call check(all(size) == 100 * (size - 1) + rank, 'alltoallw')
    call MPI_Gather(rank, 1, MPI_INTEGER, all, 1, MPI_INTEGER, 0, MPI_COMM_WORLD)
    if (rank == 0) call check(all(size) == size - 1, 'gather')
    call MPI_Barrier(MPI_COMM_WORLD)
  end subroutine

  subroutine callbacks
    integer :: key, x(2), y(2)
    integer(MPI_ADDRESS_KIND) :: val
    type(MPI_Comm) :: comm
    type(MPI_Op) :: op
    type(MPI_Errhandler) :: errh, old
    type(MPI_Request) :: req
    type(MPI_Status) :: status
    real(8) :: a(3)
    logical :: flag
    integer :: n

    deleted = 0
    call MPI_Comm_create_keyval(copy, delete, key, 3_MPI_ADDRESS_KIND)
    call MPI_Comm_set_attr(MPI_COMM_WORLD, key, 2_MPI_ADDRESS_KIND**33)
    call MPI_Comm_dup(MPI_COMM_WORLD, comm)
    call MPI_Comm_get_attr(comm, key, val, flag)
    call check(flag .and. val == 2_8**33 + 3, 'attribute')
    call MPI_Comm_free(comm)
    call MPI_Comm_delete_attr(MPI_COMM_WORLD, key)
    call check(deleted == 2, 'deleted')
    call MPI_Comm_free_keyval(key)
    call MPI_Comm_create_keyval(MPI_COMM_DUP_FN, MPI_COMM_NULL_DELETE_FN, key, 0_MPI_ADDRESS_KIND)
    call MPI_Comm_free_keyval(key)

    call MPI_Op_create(add, .true., op)
    a = [1, 2, 3]
    call MPI_Allreduce(MPI_IN_PLACE, a, 3, MPI_REAL8, op, MPI_COMM_WORLD)
    call check(all(a == size * [1, 2, 3]), 'operation')
    call MPI_Op_free(op)
    call MPI_Op_create_c(add_c, .true., op)
    x = [1, rank]
    call MPI_Allreduce(x, y, 2_MPI_COUNT_KIND, MPI_INTEGER, op, MPI_COMM_WORLD)
    call check(y(1) == size, 'large operation')
    call MPI_Op_free(op)

    call MPI_Comm_create_errhandler(handler, errh)
    call MPI_Comm_get_errhandler(MPI_COMM_SELF, old)
    call MPI_Comm_set_errhandler(MPI_COMM_SELF, errh)
    seen = 0
    call MPI_Send(x, 1, MPI_INTEGER, 5, 0, MPI_COMM_SELF, n)
    call check(seen == MPI_ERR_RANK .and. n /= MPI_SUCCESS, 'error')
    call MPI_Comm_set_errhandler(MPI_COMM_SELF, old)
    call MPI_Errhandler_free(errh)

    queried = 0
    call MPI_Grequest_start(query, release, cancel, 7_MPI_ADDRESS_KIND, req)
    call MPI_Grequest_complete(req)
    call MPI_Wait(req, status)
    call MPI_Get_count(status, MPI_INTEGER, n)
    call check(queried == 1 .and. n == 7 .and. status%MPI_TAG == 5, 'grequest')
  end subroutine

  ! The same names, with counts of the large kind.
  subroutine large
    integer(MPI_COUNT_KIND) :: n, lb, extent
    integer(MPI_COUNT_KIND), allocatable :: counts(:)
    integer(MPI_ADDRESS_KIND), allocatable :: displs(:)
    integer :: x(2), i, m, combiner
    integer, allocatable :: all(:)
    integer(MPI_COUNT_KIND) :: ni, na, nc, nd, huge_count
    integer :: ints(1)
    integer(MPI_ADDRESS_KIND) :: addrs(1)
    integer(MPI_COUNT_KIND) :: many(4)
    type(MPI_Datatype) :: type, parts(1)
    type(MPI_Status) :: status

    allocate(counts(size), displs(size), all(size))
    n = 2
    x = [rank, 7]
    call MPI_Sendrecv(x, n, MPI_INTEGER, rank, 0, all, 1_MPI_COUNT_KIND * 0, MPI_INTEGER, &
      MPI_PROC_NULL, 0, MPI_COMM_WORLD, status)
    call MPI_Recv(x, n, MPI_INTEGER, rank, 0, MPI_COMM_WORLD, status)
    call MPI_Get_count(status, MPI_INTEGER, n)
    call check(n == 2 .and. x(2) == 7, 'get_count')
    counts = 1
    displs = [(i - 1, i=1,size)]
    call MPI_Allgatherv(rank, 1_MPI_COUNT_KIND, MPI_INTEGER, all, counts, displs, MPI_INTEGER, MPI_COMM_WORLD)
    call check(all(size) == size - 1, 'allgatherv')
    huge_count = 2_8**33
    call MPI_Type_contiguous(huge_count, MPI_INTEGER, type)
    call MPI_Type_size(type, n)
    call check(n == 2_8**35, 'size')
    call MPI_Type_size(type, m)
    call check(m == MPI_UNDEFINED, 'size that does not fit')
    call MPI_Type_get_extent_c(type, lb, extent)
    call check(extent == 2_8**35, 'extent')
    call MPI_Type_get_envelope(type, ni, na, nc, nd, combiner)
    call check(nc == 1 .and. combiner == MPI_COMBINER_CONTIGUOUS, 'envelope')
    call MPI_Type_get_contents(type, ni, na, nc, nd, ints, addrs, many, parts)
    call check(many(1) == huge_count .and. parts(1) == MPI_INTEGER, 'contents')
    call MPI_Type_free(type)
  end subroutine

  subroutine types
    type(MPI_Datatype) :: type, parts(2)
    integer(MPI_ADDRESS_KIND) :: displs(2), lb, extent
    type, bind(c) :: pair
      integer(c_int) :: i
      real(c_double) :: x
    end type
    type(pair) :: p, q
    integer :: n

    call MPI_Get_address(p%i, displs(1))
    call MPI_Get_address(p%x, displs(2))
    displs(2) = MPI_Aint_diff(displs(2), displs(1))
    displs(1) = 0
    parts = [MPI_INTEGER, MPI_DOUBLE_PRECISION]
    call MPI_Type_create_struct(2, [1, 1], displs, parts, type)
    call MPI_Type_commit(type)
    p = pair(rank, 1.5d0)
    call MPI_Sendrecv(p, 1, type, rank, 1, q, 1, type, rank, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE)
    call check(q%i == rank .and. q%x == 1.5d0, 'struct')
    call MPI_Type_get_extent(type, lb, extent)
    call check(extent == 16, 'extent')
    call MPI_Type_free(type)
    call MPI_Type_create_f90_integer(12, type)
    call MPI_Type_size(type, n)
    call check(n == 8, 'f90 integer')
  end subroutine

  subroutine strings
    character(MPI_MAX_OBJECT_NAME) :: name
    character(MPI_MAX_LIBRARY_VERSION_STRING) :: version
    character(10) :: value
    type(MPI_Info) :: info
    integer :: n
    logical :: flag

    call MPI_Comm_get_name(MPI_COMM_WORLD, name, n)
    call check(name == 'MPI_COMM_WORLD' .and. n == 14, 'name')
    call MPI_Type_get_name(MPI_REAL, name, n)
    call check(name == 'MPI_REAL', 'type name')
    call MPI_Get_library_version(version, n)
    call check(n > 0, 'version')
    call MPI_Info_create(info)
    call MPI_Info_set(info, 'key', 'value')
    n = 10
    call MPI_Info_get_string(info, 'key', n, value, flag)
    call check(flag .and. n == 5 .and. value == 'value', 'info')
    n = 0
    call MPI_Info_get_string(info, 'key', n, value, flag)
    call check(flag .and. n == 5, 'length')
    call MPI_Info_free(info)
  end subroutine

  subroutine memory
    type(c_ptr) :: p
    integer, pointer :: x(:)
    integer, target :: buffer(1000)
    integer :: n

    call MPI_Alloc_mem(40_MPI_ADDRESS_KIND, MPI_INFO_NULL, p)
    call c_f_pointer(p, x, [10])
    x = 3
    call check(sum(x) == 30, 'alloc_mem')
    call MPI_Free_mem(x)
    call MPI_Buffer_attach(buffer, 4000)
    call MPI_Buffer_detach(p, n)
    call check(n == 4000, 'size of the buffer')
    call check(c_associated(p, c_loc(buffer)), 'detach')
  end subroutine

  subroutine sizes
    integer :: n
    real(8) :: x(3, 3)

    call MPI_Sizeof(x, n)
    call check(n == 8, 'sizeof')
    call MPI_Sizeof(x(::2, 1), n)
    call check(n == 8, 'sizeof a section')
    call check(MPI_SUBARRAYS_SUPPORTED, 'subarrays')
    call check(MPI_Wtime() > 0 .and. PMPI_Wtick() > 0, 'wtime')
  end subroutine

  subroutine topologies
    type(MPI_Comm) :: cart, graph
    integer :: dims(1), coords(1), n, m
    logical :: periods(1), weighted

    call MPI_Cart_create(MPI_COMM_WORLD, 1, [size], [.true.], .false., cart)
    call MPI_Cart_get(cart, 1, dims, periods, coords)
    call check(periods(1) .and. dims(1) == size, 'cart')
    call MPI_Comm_free(cart)
    call MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 0, [integer ::], MPI_WEIGHTS_EMPTY, 0, &
      [integer ::], MPI_WEIGHTS_EMPTY, MPI_INFO_NULL, .false., graph)
    call MPI_Dist_graph_neighbors_count(graph, n, m, weighted)
    call check(weighted .and. n == 0, 'graph')
    call MPI_Comm_free(graph)
  end subroutine

  subroutine statuses
    type(MPI_Status) :: status, back
    integer :: old(MPI_STATUS_SIZE), n

    status%MPI_SOURCE = 3
    status%MPI_TAG = 4
    status%MPI_ERROR = 5
    call MPI_Status_set_elements(status, MPI_INTEGER, 8)
    call MPI_Status_f082f(status, old)
    call check(old(MPI_SOURCE) == 3 .and. old(MPI_TAG) == 4 .and. old(MPI_ERROR) == 5, 'f082f')
    call MPI_Status_f2f08(old, back)
    call MPI_Get_elements(back, MPI_INTEGER, n)
    call check(n == 8, 'f2f08')
  end subroutine
end program
