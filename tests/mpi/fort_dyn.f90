! SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
! Spawning, ports and names from mpi_f08: strings and arrays of them, and what stands
! for none of them.
program fort_dyn
  use mpi_f08
  implicit none
  type(MPI_Comm) :: parent, inter
  integer :: n, codes(2), one, total
  character(len=MPI_MAX_PORT_NAME) :: port, found
  character(len=20) :: args(2)
  character(len=1024) :: self
  character(len=64) :: service

  call MPI_Init()
  one = 1
  call MPI_Comm_get_parent(parent)
  if (parent /= MPI_COMM_NULL) then
     call MPI_Allreduce(command_argument_count(), total, 1, MPI_INTEGER, &
          MPI_SUM, parent)
     call MPI_Comm_disconnect(parent)
     call MPI_Finalize()
     stop
  end if
  call get_command_argument(0, self)

  args(1) = 'child'
  args(2) = ' '
  codes = -1
  call MPI_Comm_spawn(trim(self), args, 2, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &
       inter, codes)
  call MPI_Comm_remote_size(inter, n)
  call MPI_Allreduce(one, total, 1, MPI_INTEGER, MPI_SUM, inter)
  if (n /= 2 .or. any(codes /= MPI_SUCCESS) .or. total /= 2) error stop 1
  call MPI_Comm_disconnect(inter)

  call MPI_Comm_spawn(trim(self), MPI_ARGV_NULL, 1, MPI_INFO_NULL, 0, &
       MPI_COMM_WORLD, inter, MPI_ERRCODES_IGNORE)
  call MPI_Allreduce(one, total, 1, MPI_INTEGER, MPI_SUM, inter)
  if (total /= 0) error stop 2
  call MPI_Comm_disconnect(inter)

  call MPI_Open_port(MPI_INFO_NULL, port)
  service = port(6:40) ! nobody else's
  call MPI_Publish_name(trim(service), MPI_INFO_NULL, port)
  call MPI_Lookup_name(trim(service), MPI_INFO_NULL, found)
  if (port /= found) error stop 3
  call MPI_Unpublish_name(trim(service), MPI_INFO_NULL, port)
  call MPI_Close_port(port)
  call MPI_Finalize()
end program
