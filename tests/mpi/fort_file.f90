! SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
!
! Files in Fortran: mpi_f08, with sections of arrays as buffers, requests that end
! later, split collectives, an error handler and a data representation of the program;
! and the module mpi.
module old_style
  use mpi
  implicit none
contains

  ! The same file, by the older bindings.
  subroutine read_old(name, want, good)
    character(*), intent(in) :: name
    integer, intent(in) :: want(:)
    logical, intent(out) :: good
    integer :: f, status(MPI_STATUS_SIZE), n, ierr, got(size(want))
    integer(MPI_OFFSET_KIND) :: bytes

    good = .false.
    call MPI_File_open(MPI_COMM_SELF, name, MPI_MODE_RDONLY, MPI_INFO_NULL, f, ierr)
    if (ierr /= MPI_SUCCESS) return
    call MPI_File_get_size(f, bytes, ierr)
    call MPI_File_read_at(f, 0_MPI_OFFSET_KIND, got, size(want), MPI_INTEGER, status, ierr)
    call MPI_Get_count(status, MPI_INTEGER, n, ierr)
    good = n == size(want) .and. all(got == want) .and. bytes >= 4 * n
    call MPI_File_close(f, ierr)
    good = good .and. f == MPI_FILE_NULL
  end subroutine
end module

module callbacks
  use mpi_f08
  implicit none
  integer :: handled = 0
  logical :: state_wrong = .false.
  type(MPI_File) :: f
contains

  subroutine handle(file, code)
    type(MPI_File) :: file
    integer :: code
    if (file == f) handled = handled + 1
  end subroutine

  subroutine extent_of(datatype, extent, extra_state, ierror)
    type(MPI_Datatype) :: datatype
    integer(MPI_ADDRESS_KIND) :: extent, extra_state
    integer :: ierror
    if (extra_state /= 77) state_wrong = .true.
    extent = 4
    ierror = MPI_SUCCESS
  end subroutine

  subroutine negate_in(userbuf, datatype, count, filebuf, position, extra_state, ierror)
    use, intrinsic :: iso_c_binding, only: c_ptr
    type(c_ptr), value :: userbuf, filebuf
    type(MPI_Datatype) :: datatype
    integer :: count, ierror
    integer(MPI_OFFSET_KIND) :: position
    integer(MPI_ADDRESS_KIND) :: extra_state
    call negate(filebuf, userbuf, count)
    ierror = MPI_SUCCESS
  end subroutine

  subroutine negate_out(userbuf, datatype, count, filebuf, position, extra_state, ierror)
    use, intrinsic :: iso_c_binding, only: c_ptr
    type(c_ptr), value :: userbuf, filebuf
    type(MPI_Datatype) :: datatype
    integer :: count, ierror
    integer(MPI_OFFSET_KIND) :: position
    integer(MPI_ADDRESS_KIND) :: extra_state
    call negate(userbuf, filebuf, count)
    ierror = MPI_SUCCESS
  end subroutine

  subroutine negate(from, to, n)
    use, intrinsic :: iso_c_binding, only: c_ptr, c_f_pointer
    type(c_ptr), intent(in) :: from, to
    integer, intent(in) :: n
    integer, pointer :: a(:), b(:)
    call c_f_pointer(from, a, [n])
    call c_f_pointer(to, b, [n])
    b = -a
  end subroutine
end module

program main
  use mpi_f08
  use callbacks
  use old_style, only: read_old
  implicit none
  integer :: rank, size
  character(len=200) :: name

  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_size(MPI_COMM_WORLD, size)
  call get_environment_variable('TMPDIR', name)
  if (name == '') name = '/tmp'
  write (name, '(a,a,i0)') trim(name), '/o2g_fort_file.', int(mod(MPI_Wtime() * 1000, 1d9))
  call MPI_Bcast(name, len(name), MPI_CHARACTER, 0, MPI_COMM_WORLD)
  call MPI_File_open(MPI_COMM_WORLD, trim(name), &
    MPI_MODE_CREATE + MPI_MODE_RDWR + MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL, f)
  call sections
  call split
  call handlers
  call representation
  call MPI_File_close(f)
  call MPI_Finalize()
contains

  subroutine check(good, what)
    logical, intent(in) :: good
    character(*), intent(in) :: what
    if (good) return
    print *, 'rank', rank, ': wrong: ', what
    call MPI_Abort(MPI_COMM_WORLD, 1)
  end subroutine

  ! Every size-th integer is this rank's.
  subroutine sections
    integer, asynchronous :: a(10, 4), b(10, 4)
    integer :: i, n, whole(20 * size)
    logical :: good
    type(MPI_Datatype) :: t
    type(MPI_Request) :: req
    type(MPI_Status) :: status
    integer(MPI_OFFSET_KIND) :: at

    a = reshape([(100 * rank + i, i=1,40)], [10, 4])
    call MPI_Type_create_resized(MPI_INTEGER, 0_MPI_ADDRESS_KIND, &
      int(4 * size, MPI_ADDRESS_KIND), t)
    call MPI_Type_commit(t)
    call MPI_File_set_view(f, int(4 * rank, MPI_OFFSET_KIND), MPI_INTEGER, t, 'native', &
      MPI_INFO_NULL)
    call MPI_Type_free(t)
    call MPI_File_write_all(f, a(1:10:2, :), 20, MPI_INTEGER, status)
    call MPI_Get_count(status, MPI_INTEGER, n)
    call check(n == 20, 'write_all')
    call MPI_File_get_position(f, at)
    call check(at == 20, 'position')
    b = 0
    call MPI_File_iread_at(f, 0_MPI_OFFSET_KIND, b(2:10:2, :), 20, MPI_INTEGER, req)
    call MPI_Wait(req, status)
    call check(all(b(2:10:2, :) == a(1:10:2, :)) .and. all(b(1:10:2, :) == 0), 'iread_at')
    b = 0
    call MPI_File_iread_at_all(f, 0_MPI_OFFSET_KIND, b(:, 1), int(10, MPI_COUNT_KIND), &
      MPI_INTEGER, req)
    call MPI_Wait(req, status)
    call check(all(b(:5, 1) == a(1:10:2, 1)) .and. all(b(6:, 1) == a(1:10:2, 2)), 'large count')
    call MPI_Barrier(MPI_COMM_WORLD)
    do i = 1, 20
      whole((i - 1) * size + 1 : i * size) = &
        [(100 * n + 2 * mod(i - 1, 5) + 1 + 10 * ((i - 1) / 5), n=0,size-1)]
    end do
    call read_old(trim(name), whole, good)
    call check(good, 'use mpi')
    call MPI_Barrier(MPI_COMM_WORLD)
  end subroutine

  subroutine split
    integer, asynchronous :: a(5), b(5)
    type(MPI_Status) :: status

    a = rank
    call MPI_File_set_view(f, 0_MPI_OFFSET_KIND, MPI_INTEGER, MPI_INTEGER, 'native', MPI_INFO_NULL)
    call MPI_File_write_ordered_begin(f, a, 5, MPI_INTEGER)
    call MPI_File_write_ordered_end(f, a, status)
    call MPI_File_read_at_all_begin(f, int(5 * rank, MPI_OFFSET_KIND), b, 5, MPI_INTEGER)
    call MPI_File_read_at_all_end(f, b, status)
    call check(all(b == rank), 'split')
  end subroutine

  subroutine handlers
    type(MPI_Errhandler) :: e
    integer :: ierr, class

    call MPI_File_create_errhandler(handle, e)
    call MPI_File_set_errhandler(f, e)
    call MPI_File_seek(f, -1_MPI_OFFSET_KIND, MPI_SEEK_SET, ierr)
    call MPI_Error_class(ierr, class)
    call check(class == MPI_ERR_ARG .and. handled == 1, 'handler')
    call MPI_File_set_errhandler(f, MPI_ERRORS_RETURN)
    call MPI_Errhandler_free(e)
  end subroutine

  subroutine representation
    integer :: a(3), b(3)

    a = [1, 2, rank]
    call MPI_Register_datarep('negative', negate_in, negate_out, extent_of, 77_MPI_ADDRESS_KIND)
    call MPI_File_set_view(f, int(12 * rank, MPI_OFFSET_KIND), MPI_INTEGER, MPI_INTEGER, &
      'negative', MPI_INFO_NULL)
    call MPI_File_write_at(f, 0_MPI_OFFSET_KIND, a, 3, MPI_INTEGER, MPI_STATUS_IGNORE)
    call MPI_File_read_at(f, 0_MPI_OFFSET_KIND, b, 3, MPI_INTEGER, MPI_STATUS_IGNORE)
    call check(all(a == b) .and. .not. state_wrong, 'datarep, back')
    call MPI_File_set_view(f, int(12 * rank, MPI_OFFSET_KIND), MPI_INTEGER, MPI_INTEGER, &
      'native', MPI_INFO_NULL)
    call MPI_File_read_at(f, 0_MPI_OFFSET_KIND, b, 3, MPI_INTEGER, MPI_STATUS_IGNORE)
    call check(all(a == -b), 'datarep, in the file')
    call MPI_File_set_view(f, 0_MPI_OFFSET_KIND, MPI_INTEGER, MPI_INTEGER, 'external32', &
      MPI_INFO_NULL)
    call MPI_Barrier(MPI_COMM_WORLD)
  end subroutine
end program
