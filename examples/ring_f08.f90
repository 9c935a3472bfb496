! SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
! A token goes round the ranks of an MPI job: mpifort ring_f08.f90 -o ring_f08
program ring
  use mpi_f08
  implicit none
  integer, parameter :: rounds = 1000
  integer :: rank, size, token = 0, i
  double precision :: start

  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_size(MPI_COMM_WORLD, size)
  call MPI_Barrier(MPI_COMM_WORLD)
  start = MPI_Wtime()
  do i = 1, rounds
    if (rank == 0) call pass
    call MPI_Recv(token, 1, MPI_INTEGER, modulo(rank - 1, size), 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE)
    if (rank /= 0) call pass
  end do
  if (rank == 0) print '(i0,a,i0,a,i0,a,f0.2,a)', size, ' ranks, ', rounds, &
    ' rounds: the token counts ', token, ', ', (MPI_Wtime() - start) * 1e6 / rounds / size, ' us a hop'
  call MPI_Finalize()
  if (rank == 0 .and. token /= rounds * size) error stop 1
contains
  subroutine pass
    token = token + 1
    call MPI_Send(token, 1, MPI_INTEGER, mod(rank + 1, size), 0, MPI_COMM_WORLD)
  end subroutine
end program
