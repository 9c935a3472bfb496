! SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
!
! A tool in Fortran puts its own routines in front, in the old style and under
! the specific names of mpi_f08.
module counters
  implicit none
  integer :: old = 0, new = 0, large = 0
end module

subroutine MPI_Barrier(comm, ierror)
  use counters
  implicit none
  integer :: comm, ierror
  old = old + 1
  call PMPI_Barrier(comm, ierror)
end subroutine

subroutine MPI_Comm_size_f08(comm, size, ierror)
  use mpi_f08, only: MPI_Comm, PMPI_Comm_size
  use counters
  implicit none
  type(MPI_Comm), intent(in) :: comm
  integer, intent(out) :: size
  integer, optional, intent(out) :: ierror
  new = new + 1
  call PMPI_Comm_size(comm, size, ierror)
end subroutine

subroutine tool_send(buf, count, datatype, dest, tag, comm, ierror) bind(c, name='mpi_send_c_f08ts_')
  use mpi_f08, only: MPI_Comm, MPI_Datatype, MPI_COUNT_KIND, PMPI_Send
  use counters
  implicit none
  type(*), dimension(..), intent(in) :: buf
  integer(MPI_COUNT_KIND), intent(in) :: count
  type(MPI_Datatype), intent(in) :: datatype
  integer, intent(in) :: dest, tag
  type(MPI_Comm), intent(in) :: comm
  integer, optional, intent(out) :: ierror
  large = large + 1
  call PMPI_Send(buf, count, datatype, dest, tag, comm, ierror)
end subroutine

program main
  use mpi_f08
  use counters
  implicit none
  integer :: n, x(4, 2), y(2)
  type(MPI_Request) :: req

  call MPI_Init()
  call old_style
  call MPI_Comm_size(MPI_COMM_WORLD, n)
  x = 3
  call MPI_Irecv(y, 2, MPI_INTEGER, 0, 0, MPI_COMM_SELF, req)
  call MPI_Send(x(2, :), 2_MPI_COUNT_KIND, MPI_INTEGER, 0, 0, MPI_COMM_SELF)
  call MPI_Wait(req, MPI_STATUS_IGNORE)
  if (old /= 1 .or. new /= 1 .or. large /= 1 .or. any(y /= 3)) then
    print *, 'wrong:', old, new, large, y
    call MPI_Abort(MPI_COMM_WORLD, 1)
  end if
  call MPI_Finalize()
end program

subroutine old_style
  implicit none
  include 'mpif.h'
  integer :: ierr
  call MPI_Barrier(MPI_COMM_WORLD, ierr)
end subroutine
