! SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
!
! Sessions in mpi_f08, with an error handler of theirs; attributes of datatypes;
! integers that are no handles.
module state
  use mpi_f08
  implicit none
  integer :: seen = 0, copied = 0, deleted = 0
contains
  subroutine check(good, what)
    logical, intent(in) :: good
    character(*), intent(in) :: what
    if (good) return
    print *, 'wrong: ', what
    error stop 1
  end subroutine

  subroutine handler(session, error_code)
    type(MPI_Session) :: session
    integer :: error_code
    call check(session /= MPI_SESSION_NULL, 'session in a callback')
    call MPI_Error_class(error_code, seen)
  end subroutine

  subroutine copy(oldtype, type_keyval, extra_state, attribute_val_in, attribute_val_out, flag, ierror)
    type(MPI_Datatype) :: oldtype
    integer :: type_keyval, ierror, n
    integer(MPI_ADDRESS_KIND) :: extra_state, attribute_val_in, attribute_val_out
    logical :: flag
    call MPI_Type_size(oldtype, n)
    call check(n == 12, 'type in a callback')
    copied = copied + 1
    attribute_val_out = attribute_val_in + 1
    flag = .true.
    ierror = MPI_SUCCESS
  end subroutine

  subroutine delete(datatype, type_keyval, attribute_val, extra_state, ierror)
    type(MPI_Datatype) :: datatype
    integer :: type_keyval, ierror
    integer(MPI_ADDRESS_KIND) :: attribute_val, extra_state
    deleted = deleted + 1
    ierror = MPI_SUCCESS
  end subroutine
end module

program main
  use state
  implicit none
  type(MPI_Session) :: session
  type(MPI_Errhandler) :: errh
  type(MPI_Group) :: group
  type(MPI_Comm) :: comm
  character(MPI_MAX_PSET_NAME_LEN) :: name
  integer :: n, i, length, total
  logical :: found

  call MPI_Session_create_errhandler(handler, errh)
  call MPI_Session_init(MPI_INFO_NULL, errh, session)
  call MPI_Session_get_num_psets(session, MPI_INFO_NULL, n)
  found = .false.
  do i = 0, n - 1
    length = 0
    call MPI_Session_get_nth_pset(session, MPI_INFO_NULL, i, length, name)
    call check(length > 0, 'length of a name')
    call MPI_Session_get_nth_pset(session, MPI_INFO_NULL, i, length, name)
    call check(len_trim(name) == length, 'name of a process set')
    found = found .or. name == 'mpi://WORLD'
  end do
  call check(found, 'mpi://WORLD')
  call MPI_Group_from_session_pset(session, 'mpi://WORLD  ', group)
  call MPI_Comm_create_from_group(group, 'a tag', MPI_INFO_NULL, MPI_ERRORS_RETURN, comm)
  call MPI_Group_size(group, n)
  call MPI_Allreduce(1, total, 1, MPI_INTEGER, MPI_SUM, comm)
  call check(total == n, 'allreduce')
  call MPI_Session_call_errhandler(session, MPI_ERR_OTHER)
  call check(seen == MPI_ERR_OTHER, 'error handler')
  call no_handles
  call attributes
  call MPI_Comm_free(comm)
  call MPI_Group_free(group)
  call MPI_Errhandler_free(errh)
  call MPI_Session_finalize(session)
  call check(session == MPI_SESSION_NULL, 'finalized')
contains

  subroutine no_handles
    integer :: ierr, class, m

    call MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN)
    call MPI_Send(n, 1, MPI_Datatype(987654), 0, 0, comm, ierr)
    call MPI_Error_class(ierr, class)
    call check(class == MPI_ERR_TYPE, 'no such datatype')
    call MPI_Bcast(n, 1, MPI_Datatype(-5), 0, comm, ierr)
    call MPI_Error_class(ierr, class)
    call check(class == MPI_ERR_TYPE, 'negative')
    call MPI_Comm_size(comm, m, ierr)
    call check(ierr == MPI_SUCCESS .and. m == total, 'goes on')
  end subroutine

  subroutine attributes
    type(MPI_Datatype) :: type, other
    integer :: key
    integer(MPI_ADDRESS_KIND) :: val
    logical :: flag

    call MPI_Type_create_keyval(copy, delete, key, 0_MPI_ADDRESS_KIND)
    call MPI_Type_contiguous(3, MPI_INTEGER, type)
    call MPI_Type_set_attr(type, key, -40_MPI_ADDRESS_KIND)
    call MPI_Type_dup(type, other)
    call MPI_Type_get_attr(other, key, val, flag)
    call check(flag .and. val == -39 .and. copied == 1, 'attribute of a type')
    call MPI_Type_free(other)
    call MPI_Type_free(type)
    call check(deleted == 2, 'deleted')
    call MPI_Type_free_keyval(key)
  end subroutine
end program
