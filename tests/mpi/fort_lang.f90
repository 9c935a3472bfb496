! SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
!
! Fortran and C in one program (section 19.3 of the standard): handles, statuses,
! special values, attributes and callbacks go from one to the other.
module state
  use mpi
  implicit none
  integer :: rank, ierr
  interface
    ! All in fortran_c/fort_lang.c.
    subroutine c_attributes(comm, from_c, from_int, from_aint, expect) bind(c)
      integer, value :: comm, from_c, from_int, from_aint
      integer(8), value :: expect
    end subroutine
    integer function c_keyval() bind(c)
    end function
    integer function c_op() bind(c)
    end function
    subroutine c_status(f, f08, ignore, ignores) bind(c)
      import :: MPI_Status
      integer :: f(*), ignore(*), ignores(*)
      type(MPI_Status) :: f08
    end subroutine
    subroutine c_calls_op(op, type) bind(c)
      integer, value :: op, type
    end subroutine
    subroutine c_raises(errhandler) bind(c)
      integer, value :: errhandler
    end subroutine
    subroutine c_dups(comm) bind(c)
      integer, value :: comm
    end subroutine
    integer(8) function c_address_of_static() bind(c)
    end function
  end interface
  integer :: seen, copied, last_in
contains
  subroutine check(good, what)
    logical, intent(in) :: good
    character(*), intent(in) :: what
    if (good) return
    print *, 'rank', rank, ': wrong: ', what
    call MPI_Abort(MPI_COMM_WORLD, 1, ierr)
  end subroutine

  subroutine subtract(in, inout, n, type)
    integer :: n, in(n), inout(n), type
    call check(type == MPI_INT, 'type from C')
    inout = in - inout
  end subroutine

  subroutine handler(comm, code)
    integer :: comm, code
    call check(comm == MPI_COMM_SELF, 'comm from C')
    call MPI_Error_class(code, seen, ierr)
  end subroutine

  subroutine copy(comm, key, extra, in, out, flag, err)
    integer :: comm, key, err
    integer(MPI_ADDRESS_KIND) :: extra, in, out
    logical :: flag
    copied = copied + 1
    last_in = int(in)
    out = in
    flag = .true.
    err = MPI_SUCCESS
  end subroutine
end module

program main
  use state
  implicit none
  integer :: status(MPI_STATUS_SIZE), key_c, key_int, key_aint, op, errh, x(2), y(2), val
  integer(MPI_ADDRESS_KIND) :: got
  type(MPI_Status) :: new
  logical :: flag

  call MPI_Init(ierr)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)

  ! attributes: what one language sets, the other sees as the standard says
  call MPI_Keyval_create(MPI_NULL_COPY_FN, MPI_NULL_DELETE_FN, key_int, 0, ierr)
  call MPI_Comm_create_keyval(copy, MPI_COMM_NULL_DELETE_FN, key_aint, 0_MPI_ADDRESS_KIND, ierr)
  key_c = c_keyval()
  call MPI_Attr_put(MPI_COMM_SELF, key_int, -7, ierr)
  call MPI_Comm_set_attr(MPI_COMM_SELF, key_aint, 2_MPI_ADDRESS_KIND**40, ierr)
  call c_attributes(MPI_COMM_SELF, key_c, key_int, key_aint, 2_8**40)
  call MPI_Comm_get_attr(MPI_COMM_SELF, key_c, got, flag, ierr)
  call check(flag .and. got == c_address_of_static(), 'set in C')
  call MPI_Comm_get_attr(MPI_COMM_SELF, key_int, got, flag, ierr)
  call check(flag .and. got == -7, 'an old one, seen by a new call')
  call MPI_Comm_set_attr(MPI_COMM_SELF, key_int, 11_MPI_ADDRESS_KIND, ierr)
  call MPI_Attr_get(MPI_COMM_SELF, key_int, val, flag, ierr)
  call check(flag .and. val == 11, 'a new one, seen by an old call')
  call MPI_Comm_set_attr(MPI_COMM_SELF, key_aint, 99_MPI_ADDRESS_KIND, ierr)
  copied = 0
  call c_dups(MPI_COMM_SELF)
  call check(copied == 1 .and. last_in == 99, 'a copy function of Fortran, called for C')

  ! operations
  call MPI_Op_create(subtract, .false., op, ierr)
  call c_calls_op(op, MPI_INT)
  call MPI_Op_free(op, ierr)
  op = c_op()
  x = [3, 4]
  y = [10, 20]
  call MPI_Reduce_local(x, y, 2, MPI_INTEGER, op, ierr)
  call check(all(y == [13, 24]), 'an operation of C')
  call MPI_Op_free(op, ierr)

  ! error handlers
  call MPI_Comm_create_errhandler(handler, errh, ierr)
  seen = 0
  call c_raises(errh)
  call check(seen == MPI_ERR_TAG, 'an error handler, called for C')
  call MPI_Errhandler_free(errh, ierr)

  ! statuses
  status = 0
  call c_status(status, new, MPI_STATUS_IGNORE, MPI_STATUSES_IGNORE)
  call check(status(MPI_SOURCE) == 1 .and. status(MPI_TAG) == 2 .and. new%MPI_TAG == 2, 'status')
  call MPI_Get_count(status, MPI_INTEGER, val, ierr)
  call check(val == 3, 'count')
  call MPI_Finalize(ierr)
end program
