/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * MPI for C and C++, on the ABI of the MPI 5.0 standard (chapter 20): a program
 * compiled with this header runs with every library that follows that ABI.
 *
 * Constants come first, then types, callbacks and functions. Every function
 * MPI_X also exists as PMPI_X, so that a tool can put its own MPI_X in front.
 * What is not declared here is not implemented yet.
 */
#ifndef MPI_H
#define MPI_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define MPI_VERSION 5
#define MPI_SUBVERSION 0
#define MPI_ABI_VERSION 1
#define MPI_ABI_SUBVERSION 0

/* --- types --- */

typedef intptr_t MPI_Aint;
typedef int64_t MPI_Offset;
typedef int64_t MPI_Count;

typedef struct MPI_ABI_Comm *MPI_Comm;
typedef struct MPI_ABI_Datatype *MPI_Datatype;
typedef struct MPI_ABI_Errhandler *MPI_Errhandler;
typedef struct MPI_ABI_File *MPI_File;
typedef struct MPI_ABI_Group *MPI_Group;
typedef struct MPI_ABI_Info *MPI_Info;
typedef struct MPI_ABI_Message *MPI_Message;
typedef struct MPI_ABI_Op *MPI_Op;
typedef struct MPI_ABI_Request *MPI_Request;
typedef struct MPI_ABI_Session *MPI_Session;
typedef struct MPI_ABI_Win *MPI_Win;

typedef struct MPI_ABI_T_enum *MPI_T_enum;
typedef struct MPI_ABI_T_cvar_handle *MPI_T_cvar_handle;
typedef struct MPI_ABI_T_pvar_handle *MPI_T_pvar_handle;
typedef struct MPI_ABI_T_pvar_session *MPI_T_pvar_session;
typedef struct MPI_ABI_T_event_registration *MPI_T_event_registration;
typedef struct MPI_ABI_T_event_instance *MPI_T_event_instance;
typedef int MPI_T_source_order;
typedef int MPI_T_cb_safety;

typedef struct MPI_Status {
	int MPI_SOURCE;
	int MPI_TAG;
	int MPI_ERROR;
	int MPI_internal[5];
} MPI_Status;

/* --- callbacks --- */

typedef void MPI_User_function(void *invec, void *inoutvec, int *len,
	MPI_Datatype *datatype);
typedef void MPI_User_function_c(void *invec, void *inoutvec, MPI_Count *len,
	MPI_Datatype *datatype);

typedef void MPI_Comm_errhandler_function(MPI_Comm *comm, int *error_code, ...);
typedef void MPI_File_errhandler_function(MPI_File *file, int *error_code, ...);
typedef void MPI_Win_errhandler_function(MPI_Win *win, int *error_code, ...);
typedef void MPI_Session_errhandler_function(MPI_Session *session,
	int *error_code, ...);

typedef int MPI_Comm_copy_attr_function(MPI_Comm oldcomm, int comm_keyval,
	void *extra_state, void *attribute_val_in, void *attribute_val_out,
	int *flag);
typedef int MPI_Comm_delete_attr_function(MPI_Comm comm, int comm_keyval,
	void *attribute_val, void *extra_state);
typedef int MPI_Type_copy_attr_function(MPI_Datatype oldtype, int type_keyval,
	void *extra_state, void *attribute_val_in, void *attribute_val_out,
	int *flag);
typedef int MPI_Type_delete_attr_function(MPI_Datatype datatype,
	int type_keyval, void *attribute_val, void *extra_state);
typedef int MPI_Win_copy_attr_function(MPI_Win oldwin, int win_keyval,
	void *extra_state, void *attribute_val_in, void *attribute_val_out,
	int *flag);
typedef int MPI_Win_delete_attr_function(MPI_Win win, int win_keyval,
	void *attribute_val, void *extra_state);
typedef int MPI_Copy_function(MPI_Comm oldcomm, int keyval, void *extra_state,
	void *attribute_val_in, void *attribute_val_out, int *flag);
typedef int MPI_Delete_function(MPI_Comm comm, int keyval, void *attribute_val,
	void *extra_state);

typedef int MPI_Grequest_query_function(void *extra_state, MPI_Status *status);
typedef int MPI_Grequest_free_function(void *extra_state);
typedef int MPI_Grequest_cancel_function(void *extra_state, int complete);

typedef int MPI_Datarep_extent_function(MPI_Datatype datatype,
	MPI_Aint *extent, void *extra_state);
typedef int MPI_Datarep_conversion_function(void *userbuf,
	MPI_Datatype datatype, int count, void *filebuf, MPI_Offset position,
	void *extra_state);
typedef int MPI_Datarep_conversion_function_c(void *userbuf,
	MPI_Datatype datatype, MPI_Count count, void *filebuf,
	MPI_Offset position, void *extra_state);

/* --- error classes --- */

#define MPI_SUCCESS                   0
#define MPI_ERR_BUFFER                1
#define MPI_ERR_COUNT                 2
#define MPI_ERR_TYPE                  3
#define MPI_ERR_TAG                   4
#define MPI_ERR_COMM                  5
#define MPI_ERR_RANK                  6
#define MPI_ERR_REQUEST               7
#define MPI_ERR_ROOT                  8
#define MPI_ERR_GROUP                 9
#define MPI_ERR_OP                    10
#define MPI_ERR_TOPOLOGY              11
#define MPI_ERR_DIMS                  12
#define MPI_ERR_ARG                   13
#define MPI_ERR_UNKNOWN               14
#define MPI_ERR_TRUNCATE              15
#define MPI_ERR_OTHER                 16
#define MPI_ERR_INTERN                17
#define MPI_ERR_PENDING               18
#define MPI_ERR_IN_STATUS             19
#define MPI_ERR_ACCESS                20
#define MPI_ERR_AMODE                 21
#define MPI_ERR_ASSERT                22
#define MPI_ERR_BAD_FILE              23
#define MPI_ERR_BASE                  24
#define MPI_ERR_CONVERSION            25
#define MPI_ERR_DISP                  26
#define MPI_ERR_DUP_DATAREP           27
#define MPI_ERR_FILE_EXISTS           28
#define MPI_ERR_FILE_IN_USE           29
#define MPI_ERR_FILE                  30
#define MPI_ERR_INFO_KEY              31
#define MPI_ERR_INFO_NOKEY            32
#define MPI_ERR_INFO_VALUE            33
#define MPI_ERR_INFO                  34
#define MPI_ERR_IO                    35
#define MPI_ERR_KEYVAL                36
#define MPI_ERR_LOCKTYPE              37
#define MPI_ERR_NAME                  38
#define MPI_ERR_NO_MEM                39
#define MPI_ERR_NOT_SAME              40
#define MPI_ERR_NO_SPACE              41
#define MPI_ERR_NO_SUCH_FILE          42
#define MPI_ERR_PORT                  43
#define MPI_ERR_QUOTA                 44
#define MPI_ERR_READ_ONLY             45
#define MPI_ERR_RMA_ATTACH            46
#define MPI_ERR_RMA_CONFLICT          47
#define MPI_ERR_RMA_RANGE             48
#define MPI_ERR_RMA_SHARED            49
#define MPI_ERR_RMA_SYNC              50
#define MPI_ERR_SERVICE               51
#define MPI_ERR_SIZE                  52
#define MPI_ERR_SPAWN                 53
#define MPI_ERR_UNSUPPORTED_DATAREP   54
#define MPI_ERR_UNSUPPORTED_OPERATION 55
#define MPI_ERR_WIN                   56
#define MPI_ERR_RMA_FLAVOR            57
#define MPI_ERR_PROC_ABORTED          58
#define MPI_ERR_VALUE_TOO_LARGE       59
#define MPI_ERR_SESSION               60
#define MPI_ERR_ERRHANDLER            61
#define MPI_ERR_ABI                   62
#define MPI_T_ERR_CANNOT_INIT         1001
#define MPI_T_ERR_NOT_ACCESSIBLE      1002
#define MPI_T_ERR_NOT_INITIALIZED     1003
#define MPI_T_ERR_NOT_SUPPORTED       1004
#define MPI_T_ERR_MEMORY              1005
#define MPI_T_ERR_INVALID             1006
#define MPI_T_ERR_INVALID_INDEX       1007
#define MPI_T_ERR_INVALID_ITEM        1008
#define MPI_T_ERR_INVALID_SESSION     1009
#define MPI_T_ERR_INVALID_HANDLE      1010
#define MPI_T_ERR_INVALID_NAME        1011
#define MPI_T_ERR_OUT_OF_HANDLES      1012
#define MPI_T_ERR_OUT_OF_SESSIONS     1013
#define MPI_T_ERR_CVAR_SET_NOT_NOW    1014
#define MPI_T_ERR_CVAR_SET_NEVER      1015
#define MPI_T_ERR_PVAR_NO_WRITE       1016
#define MPI_T_ERR_PVAR_NO_STARTSTOP   1017
#define MPI_T_ERR_PVAR_NO_ATOMIC      1018
#define MPI_ERR_LASTCODE              16383

/* --- special buffers and "no such output" pointers --- */

#define MPI_BOTTOM           ((void *)0)
#define MPI_IN_PLACE         ((void *)1)
#define MPI_BUFFER_AUTOMATIC ((void *)2)
#define MPI_ARGVS_NULL       ((char ***)0)
#define MPI_ARGV_NULL        ((char **)0)
#define MPI_ERRCODES_IGNORE  ((int *)0)
#define MPI_STATUSES_IGNORE  ((MPI_Status *)0)
#define MPI_STATUS_IGNORE    ((MPI_Status *)0)
#define MPI_UNWEIGHTED       ((int *)10)
#define MPI_WEIGHTS_EMPTY    ((int *)11)

/* --- lengths of strings --- */

#define MPI_MAX_DATAREP_STRING         128
#define MPI_MAX_ERROR_STRING           512
#define MPI_MAX_INFO_KEY               256
#define MPI_MAX_INFO_VAL               1024
#define MPI_MAX_LIBRARY_VERSION_STRING 8192
#define MPI_MAX_OBJECT_NAME            128
#define MPI_MAX_PORT_NAME              1024
#define MPI_MAX_PROCESSOR_NAME         256
#define MPI_MAX_STRINGTAG_LEN          1024
#define MPI_MAX_PSET_NAME_LEN          1024

/* --- ranks, tags and other small constants --- */

#define MPI_ANY_SOURCE     (-1)
#define MPI_ANY_TAG        (-2)
#define MPI_PROC_NULL      (-3)
#define MPI_ROOT           (-4)
#define MPI_UNDEFINED      (-32766)
#define MPI_BSEND_OVERHEAD 512

/* --- thread levels --- */

#define MPI_THREAD_SINGLE     0
#define MPI_THREAD_FUNNELED   1024
#define MPI_THREAD_SERIALIZED 2048
#define MPI_THREAD_MULTIPLE   4096

/* --- results of comparing --- */

#define MPI_IDENT     201
#define MPI_CONGRUENT 202
#define MPI_SIMILAR   203
#define MPI_UNEQUAL   204

/* --- kinds of split and topologies --- */

#define MPI_COMM_TYPE_SHARED          221
#define MPI_COMM_TYPE_HW_UNGUIDED     222
#define MPI_COMM_TYPE_HW_GUIDED       223
#define MPI_COMM_TYPE_RESOURCE_GUIDED 224
#define MPI_CART                      211
#define MPI_GRAPH                     212
#define MPI_DIST_GRAPH                213

/* --- attribute keys --- */

#define MPI_KEYVAL_INVALID    0
#define MPI_TAG_UB            501
#define MPI_IO                502
#define MPI_HOST              503
#define MPI_WTIME_IS_GLOBAL   504
#define MPI_APPNUM            505
#define MPI_LASTUSEDCODE      506
#define MPI_UNIVERSE_SIZE     507
#define MPI_WIN_BASE          601
#define MPI_WIN_DISP_UNIT     602
#define MPI_WIN_SIZE          603
#define MPI_WIN_CREATE_FLAVOR 604
#define MPI_WIN_MODEL         605

/* --- communicators and groups --- */

#define MPI_COMM_NULL   ((MPI_Comm)0x100)
#define MPI_COMM_WORLD  ((MPI_Comm)0x101)
#define MPI_COMM_SELF   ((MPI_Comm)0x102)
#define MPI_GROUP_NULL  ((MPI_Group)0x108)
#define MPI_GROUP_EMPTY ((MPI_Group)0x109)

/* --- other null and predefined handles --- */

#define MPI_REQUEST_NULL     ((MPI_Request)0x180)
#define MPI_FILE_NULL        ((MPI_File)0x118)
#define MPI_SESSION_NULL     ((MPI_Session)0x120)
#define MPI_WIN_NULL         ((MPI_Win)0x110)
#define MPI_MESSAGE_NULL     ((MPI_Message)0x128)
#define MPI_MESSAGE_NO_PROC  ((MPI_Message)0x129)
#define MPI_ERRHANDLER_NULL  ((MPI_Errhandler)0x140)
#define MPI_ERRORS_ARE_FATAL ((MPI_Errhandler)0x141)
#define MPI_ERRORS_ABORT     ((MPI_Errhandler)0x142)
#define MPI_ERRORS_RETURN    ((MPI_Errhandler)0x143)
#define MPI_INFO_NULL        ((MPI_Info)0x130)
#define MPI_INFO_ENV         ((MPI_Info)0x131)

/* --- datatypes --- */

#define MPI_DATATYPE_NULL           ((MPI_Datatype)0x200)
#define MPI_AINT                    ((MPI_Datatype)0x201)
#define MPI_COUNT                   ((MPI_Datatype)0x202)
#define MPI_OFFSET                  ((MPI_Datatype)0x203)
#define MPI_PACKED                  ((MPI_Datatype)0x207)
#define MPI_SHORT                   ((MPI_Datatype)0x208)
#define MPI_INT                     ((MPI_Datatype)0x209)
#define MPI_LONG                    ((MPI_Datatype)0x20a)
#define MPI_LONG_LONG_INT           ((MPI_Datatype)0x20b)
#define MPI_LONG_LONG               ((MPI_Datatype)0x20b)
#define MPI_UNSIGNED_SHORT          ((MPI_Datatype)0x20c)
#define MPI_UNSIGNED                ((MPI_Datatype)0x20d)
#define MPI_UNSIGNED_LONG           ((MPI_Datatype)0x20e)
#define MPI_UNSIGNED_LONG_LONG      ((MPI_Datatype)0x20f)
#define MPI_FLOAT                   ((MPI_Datatype)0x210)
#define MPI_C_COMPLEX               ((MPI_Datatype)0x212)
#define MPI_C_FLOAT_COMPLEX         ((MPI_Datatype)0x212)
#define MPI_DOUBLE                  ((MPI_Datatype)0x214)
#define MPI_C_DOUBLE_COMPLEX        ((MPI_Datatype)0x216)
#define MPI_LONG_DOUBLE             ((MPI_Datatype)0x220)
#define MPI_C_LONG_DOUBLE_COMPLEX   ((MPI_Datatype)0x224)
#define MPI_C_BOOL                  ((MPI_Datatype)0x238)
#define MPI_WCHAR                   ((MPI_Datatype)0x23c)
#define MPI_INT8_T                  ((MPI_Datatype)0x240)
#define MPI_UINT8_T                 ((MPI_Datatype)0x241)
#define MPI_CHAR                    ((MPI_Datatype)0x243)
#define MPI_SIGNED_CHAR             ((MPI_Datatype)0x244)
#define MPI_UNSIGNED_CHAR           ((MPI_Datatype)0x245)
#define MPI_BYTE                    ((MPI_Datatype)0x247)
#define MPI_INT16_T                 ((MPI_Datatype)0x248)
#define MPI_UINT16_T                ((MPI_Datatype)0x249)
#define MPI_INT32_T                 ((MPI_Datatype)0x250)
#define MPI_UINT32_T                ((MPI_Datatype)0x251)
#define MPI_INT64_T                 ((MPI_Datatype)0x258)
#define MPI_UINT64_T                ((MPI_Datatype)0x259)
#define MPI_LOGICAL                 ((MPI_Datatype)0x218)
#define MPI_INTEGER                 ((MPI_Datatype)0x219)
#define MPI_REAL                    ((MPI_Datatype)0x21a)
#define MPI_COMPLEX                 ((MPI_Datatype)0x21b)
#define MPI_DOUBLE_PRECISION        ((MPI_Datatype)0x21c)
#define MPI_CHARACTER               ((MPI_Datatype)0x21e)
#define MPI_CXX_FLOAT_COMPLEX       ((MPI_Datatype)0x213)
#define MPI_CXX_DOUBLE_COMPLEX      ((MPI_Datatype)0x217)
#define MPI_CXX_LONG_DOUBLE_COMPLEX ((MPI_Datatype)0x225)
#define MPI_CXX_BOOL                ((MPI_Datatype)0x239)

/* --- datatypes for MPI_MINLOC and MPI_MAXLOC --- */

#define MPI_FLOAT_INT         ((MPI_Datatype)0x228)
#define MPI_DOUBLE_INT        ((MPI_Datatype)0x229)
#define MPI_LONG_INT          ((MPI_Datatype)0x22a)
#define MPI_2INT              ((MPI_Datatype)0x22b)
#define MPI_SHORT_INT         ((MPI_Datatype)0x22c)
#define MPI_LONG_DOUBLE_INT   ((MPI_Datatype)0x22d)
#define MPI_2REAL             ((MPI_Datatype)0x230)
#define MPI_2DOUBLE_PRECISION ((MPI_Datatype)0x231)
#define MPI_2INTEGER          ((MPI_Datatype)0x232)

/* --- datatypes of Fortran that a compiler may lack --- */

#define MPI_DOUBLE_COMPLEX ((MPI_Datatype)0x21d)
#define MPI_LOGICAL1       ((MPI_Datatype)0x2c0)
#define MPI_LOGICAL2       ((MPI_Datatype)0x2c8)
#define MPI_LOGICAL4       ((MPI_Datatype)0x2d0)
#define MPI_LOGICAL8       ((MPI_Datatype)0x2d8)
#define MPI_LOGICAL16      ((MPI_Datatype)0x2e0)
#define MPI_INTEGER1       ((MPI_Datatype)0x2c1)
#define MPI_INTEGER2       ((MPI_Datatype)0x2c9)
#define MPI_INTEGER4       ((MPI_Datatype)0x2d1)
#define MPI_INTEGER8       ((MPI_Datatype)0x2d9)
#define MPI_INTEGER16      ((MPI_Datatype)0x2e1)
#define MPI_REAL2          ((MPI_Datatype)0x2ca)
#define MPI_REAL4          ((MPI_Datatype)0x2d2)
#define MPI_REAL8          ((MPI_Datatype)0x2da)
#define MPI_REAL16         ((MPI_Datatype)0x2e2)
#define MPI_COMPLEX4       ((MPI_Datatype)0x2d3)
#define MPI_COMPLEX8       ((MPI_Datatype)0x2db)
#define MPI_COMPLEX16      ((MPI_Datatype)0x2e3)
#define MPI_COMPLEX32      ((MPI_Datatype)0x2eb)

/* --- reduction operations --- */

#define MPI_OP_NULL ((MPI_Op)0x020)
#define MPI_SUM     ((MPI_Op)0x021)
#define MPI_MIN     ((MPI_Op)0x022)
#define MPI_MAX     ((MPI_Op)0x023)
#define MPI_PROD    ((MPI_Op)0x024)
#define MPI_BAND    ((MPI_Op)0x028)
#define MPI_BOR     ((MPI_Op)0x029)
#define MPI_BXOR    ((MPI_Op)0x02a)
#define MPI_LAND    ((MPI_Op)0x030)
#define MPI_LOR     ((MPI_Op)0x031)
#define MPI_LXOR    ((MPI_Op)0x032)
#define MPI_MINLOC  ((MPI_Op)0x038)
#define MPI_MAXLOC  ((MPI_Op)0x039)
#define MPI_REPLACE ((MPI_Op)0x03c)
#define MPI_NO_OP   ((MPI_Op)0x03d)

/* --- how a datatype was made --- */

#define MPI_COMBINER_NAMED          101
#define MPI_COMBINER_DUP            102
#define MPI_COMBINER_CONTIGUOUS     103
#define MPI_COMBINER_VECTOR         104
#define MPI_COMBINER_HVECTOR        105
#define MPI_COMBINER_INDEXED        106
#define MPI_COMBINER_HINDEXED       107
#define MPI_COMBINER_INDEXED_BLOCK  108
#define MPI_COMBINER_HINDEXED_BLOCK 109
#define MPI_COMBINER_STRUCT         110
#define MPI_COMBINER_SUBARRAY       111
#define MPI_COMBINER_DARRAY         112
#define MPI_COMBINER_F90_REAL       113
#define MPI_COMBINER_F90_COMPLEX    114
#define MPI_COMBINER_F90_INTEGER    115
#define MPI_COMBINER_RESIZED        116
#define MPI_COMBINER_VALUE_INDEX    117
#define MPI_TYPECLASS_INTEGER       192
#define MPI_TYPECLASS_REAL          193
#define MPI_TYPECLASS_COMPLEX       194

/* --- array order and distribution --- */

#define MPI_ORDER_C              12
#define MPI_ORDER_FORTRAN        15
#define MPI_DISTRIBUTE_NONE      16
#define MPI_DISTRIBUTE_BLOCK     17
#define MPI_DISTRIBUTE_CYCLIC    18
#define MPI_DISTRIBUTE_DFLT_DARG 19

/* --- files --- */

#define MPI_MODE_APPEND          1
#define MPI_MODE_CREATE          2
#define MPI_MODE_DELETE_ON_CLOSE 4
#define MPI_MODE_EXCL            8
#define MPI_MODE_RDONLY          16
#define MPI_MODE_RDWR            32
#define MPI_MODE_SEQUENTIAL      64
#define MPI_MODE_UNIQUE_OPEN     128
#define MPI_MODE_WRONLY          256
#define MPI_MODE_NOCHECK         1024
#define MPI_MODE_NOPRECEDE       2048
#define MPI_MODE_NOPUT           4096
#define MPI_MODE_NOSTORE         8192
#define MPI_MODE_NOSUCCEED       16384
#define MPI_SEEK_CUR             401
#define MPI_SEEK_END             402
#define MPI_SEEK_SET             403
#define MPI_DISPLACEMENT_CURRENT ((MPI_Offset)-1)

/* --- windows --- */

#define MPI_LOCK_EXCLUSIVE      301
#define MPI_LOCK_SHARED         302
#define MPI_WIN_FLAVOR_CREATE   311
#define MPI_WIN_FLAVOR_ALLOCATE 312
#define MPI_WIN_FLAVOR_DYNAMIC  313
#define MPI_WIN_FLAVOR_SHARED   314
#define MPI_WIN_UNIFIED         321
#define MPI_WIN_SEPARATE        322

/* --- predefined callbacks --- */

#define MPI_COMM_NULL_COPY_FN    ((MPI_Comm_copy_attr_function *)0)
#define MPI_COMM_DUP_FN          ((MPI_Comm_copy_attr_function *)1)
#define MPI_COMM_NULL_DELETE_FN  ((MPI_Comm_delete_attr_function *)0)
#define MPI_WIN_NULL_COPY_FN     ((MPI_Win_copy_attr_function *)0)
#define MPI_WIN_DUP_FN           ((MPI_Win_copy_attr_function *)1)
#define MPI_WIN_NULL_DELETE_FN   ((MPI_Win_delete_attr_function *)0)
#define MPI_TYPE_NULL_COPY_FN    ((MPI_Type_copy_attr_function *)0)
#define MPI_TYPE_DUP_FN          ((MPI_Type_copy_attr_function *)1)
#define MPI_TYPE_NULL_DELETE_FN  ((MPI_Type_delete_attr_function *)0)
#define MPI_CONVERSION_FN_NULL   ((MPI_Datarep_conversion_function *)0)
#define MPI_CONVERSION_FN_NULL_C ((MPI_Datarep_conversion_function_c *)0)
#define MPI_NULL_COPY_FN         ((MPI_Copy_function *)0)
#define MPI_DUP_FN               ((MPI_Copy_function *)1)
#define MPI_NULL_DELETE_FN       ((MPI_Delete_function *)0)

/* --- where the fields of a Fortran status are, seen from C --- */

#define MPI_F_STATUS_SIZE 8
#define MPI_F_SOURCE      0
#define MPI_F_TAG         1
#define MPI_F_ERROR       2

/* --- tool interface --- */

#define MPI_T_ENUM_NULL                    ((MPI_T_enum)0)
#define MPI_T_CVAR_HANDLE_NULL             ((MPI_T_cvar_handle)0)
#define MPI_T_PVAR_HANDLE_NULL             ((MPI_T_pvar_handle)0)
#define MPI_T_PVAR_SESSION_NULL            ((MPI_T_pvar_session)0)
#define MPI_T_PVAR_ALL_HANDLES             ((MPI_T_pvar_handle)1)
#define MPI_T_VERBOSITY_USER_BASIC         9
#define MPI_T_VERBOSITY_USER_DETAIL        10
#define MPI_T_VERBOSITY_USER_ALL           12
#define MPI_T_VERBOSITY_TUNER_BASIC        17
#define MPI_T_VERBOSITY_TUNER_DETAIL       18
#define MPI_T_VERBOSITY_TUNER_ALL          20
#define MPI_T_VERBOSITY_MPIDEV_BASIC       33
#define MPI_T_VERBOSITY_MPIDEV_DETAIL      34
#define MPI_T_VERBOSITY_MPIDEV_ALL         36
#define MPI_T_BIND_NO_OBJECT               1
#define MPI_T_BIND_MPI_COMM                2
#define MPI_T_BIND_MPI_DATATYPE            3
#define MPI_T_BIND_MPI_ERRHANDLER          4
#define MPI_T_BIND_MPI_FILE                5
#define MPI_T_BIND_MPI_GROUP               6
#define MPI_T_BIND_MPI_OP                  7
#define MPI_T_BIND_MPI_REQUEST             8
#define MPI_T_BIND_MPI_WIN                 9
#define MPI_T_BIND_MPI_MESSAGE             10
#define MPI_T_BIND_MPI_INFO                11
#define MPI_T_BIND_MPI_SESSION             12
#define MPI_T_SCOPE_CONSTANT               1
#define MPI_T_SCOPE_READONLY               2
#define MPI_T_SCOPE_LOCAL                  3
#define MPI_T_SCOPE_GROUP                  4
#define MPI_T_SCOPE_GROUP_EQ               5
#define MPI_T_SCOPE_ALL                    6
#define MPI_T_SCOPE_ALL_EQ                 7
#define MPI_T_PVAR_CLASS_STATE             1
#define MPI_T_PVAR_CLASS_LEVEL             2
#define MPI_T_PVAR_CLASS_SIZE              3
#define MPI_T_PVAR_CLASS_PERCENTAGE        4
#define MPI_T_PVAR_CLASS_HIGHWATERMARK     5
#define MPI_T_PVAR_CLASS_LOWWATERMARK      6
#define MPI_T_PVAR_CLASS_COUNTER           7
#define MPI_T_PVAR_CLASS_AGGREGATE         8
#define MPI_T_PVAR_CLASS_TIMER             9
#define MPI_T_PVAR_CLASS_GENERIC           10
#define MPI_T_SOURCE_ORDERED               1
#define MPI_T_SOURCE_UNORDERED             2
#define MPI_T_CB_REQUIRE_NONE              0
#define MPI_T_CB_REQUIRE_MPI_RESTRICTED    3
#define MPI_T_CB_REQUIRE_THREAD_SAFE       15
#define MPI_T_CB_REQUIRE_ASYNC_SIGNAL_SAFE 63

/*
 * --- functions ---
 */

/* starting and ending */
int MPI_Init(int *argc, char ***argv);
int MPI_Init_thread(int *argc, char ***argv, int required, int *provided);
int MPI_Initialized(int *flag);
int MPI_Finalize(void);
int MPI_Finalized(int *flag);
int MPI_Query_thread(int *provided);
int MPI_Is_thread_main(int *flag);
int MPI_Abort(MPI_Comm comm, int errorcode);

/* the process and its surroundings */
int MPI_Get_processor_name(char *name, int *resultlen);
int MPI_Get_version(int *version, int *subversion);
int MPI_Get_library_version(char *version, int *resultlen);
int MPI_Abi_get_version(int *abi_major, int *abi_minor);
int MPI_Abi_get_info(MPI_Info *info);
double MPI_Wtime(void);
double MPI_Wtick(void);
int MPI_Pcontrol(const int level, ...);
int MPI_Get_address(const void *location, MPI_Aint *address);
MPI_Aint MPI_Aint_add(MPI_Aint base, MPI_Aint disp);
MPI_Aint MPI_Aint_diff(MPI_Aint addr1, MPI_Aint addr2);
int MPI_Alloc_mem(MPI_Aint size, MPI_Info info, void *baseptr);
int MPI_Free_mem(void *base);

/* sending */
int MPI_Send(const void *buf, int count, MPI_Datatype datatype, int dest,
	int tag, MPI_Comm comm);
int MPI_Send_c(const void *buf, MPI_Count count, MPI_Datatype datatype,
	int dest, int tag, MPI_Comm comm);
int MPI_Ssend(const void *buf, int count, MPI_Datatype datatype, int dest,
	int tag, MPI_Comm comm);
int MPI_Ssend_c(const void *buf, MPI_Count count, MPI_Datatype datatype,
	int dest, int tag, MPI_Comm comm);
int MPI_Rsend(const void *buf, int count, MPI_Datatype datatype, int dest,
	int tag, MPI_Comm comm);
int MPI_Rsend_c(const void *buf, MPI_Count count, MPI_Datatype datatype,
	int dest, int tag, MPI_Comm comm);
int MPI_Bsend(const void *buf, int count, MPI_Datatype datatype, int dest,
	int tag, MPI_Comm comm);
int MPI_Bsend_c(const void *buf, MPI_Count count, MPI_Datatype datatype,
	int dest, int tag, MPI_Comm comm);
int MPI_Isend(const void *buf, int count, MPI_Datatype datatype, int dest,
	int tag, MPI_Comm comm, MPI_Request *request);
int MPI_Isend_c(const void *buf, MPI_Count count, MPI_Datatype datatype,
	int dest, int tag, MPI_Comm comm, MPI_Request *request);
int MPI_Issend(const void *buf, int count, MPI_Datatype datatype, int dest,
	int tag, MPI_Comm comm, MPI_Request *request);
int MPI_Issend_c(const void *buf, MPI_Count count, MPI_Datatype datatype,
	int dest, int tag, MPI_Comm comm, MPI_Request *request);
int MPI_Irsend(const void *buf, int count, MPI_Datatype datatype, int dest,
	int tag, MPI_Comm comm, MPI_Request *request);
int MPI_Irsend_c(const void *buf, MPI_Count count, MPI_Datatype datatype,
	int dest, int tag, MPI_Comm comm, MPI_Request *request);
int MPI_Ibsend(const void *buf, int count, MPI_Datatype datatype, int dest,
	int tag, MPI_Comm comm, MPI_Request *request);
int MPI_Ibsend_c(const void *buf, MPI_Count count, MPI_Datatype datatype,
	int dest, int tag, MPI_Comm comm, MPI_Request *request);

/* receiving */
int MPI_Recv(void *buf, int count, MPI_Datatype datatype, int source, int tag,
	MPI_Comm comm, MPI_Status *status);
int MPI_Recv_c(void *buf, MPI_Count count, MPI_Datatype datatype, int source,
	int tag, MPI_Comm comm, MPI_Status *status);
int MPI_Irecv(void *buf, int count, MPI_Datatype datatype, int source, int tag,
	MPI_Comm comm, MPI_Request *request);
int MPI_Irecv_c(void *buf, MPI_Count count, MPI_Datatype datatype, int source,
	int tag, MPI_Comm comm, MPI_Request *request);

/* both */
int MPI_Sendrecv(const void *sendbuf, int sendcount, MPI_Datatype sendtype,
	int dest, int sendtag, void *recvbuf, int recvcount,
	MPI_Datatype recvtype, int source, int recvtag, MPI_Comm comm,
	MPI_Status *status);
int MPI_Sendrecv_c(const void *sendbuf, MPI_Count sendcount,
	MPI_Datatype sendtype, int dest, int sendtag, void *recvbuf,
	MPI_Count recvcount, MPI_Datatype recvtype, int source, int recvtag,
	MPI_Comm comm, MPI_Status *status);
int MPI_Sendrecv_replace(void *buf, int count, MPI_Datatype datatype, int dest,
	int sendtag, int source, int recvtag, MPI_Comm comm,
	MPI_Status *status);
int MPI_Sendrecv_replace_c(void *buf, MPI_Count count, MPI_Datatype datatype,
	int dest, int sendtag, int source, int recvtag, MPI_Comm comm,
	MPI_Status *status);
int MPI_Isendrecv(const void *sendbuf, int sendcount, MPI_Datatype sendtype,
	int dest, int sendtag, void *recvbuf, int recvcount,
	MPI_Datatype recvtype, int source, int recvtag, MPI_Comm comm,
	MPI_Request *request);
int MPI_Isendrecv_c(const void *sendbuf, MPI_Count sendcount,
	MPI_Datatype sendtype, int dest, int sendtag, void *recvbuf,
	MPI_Count recvcount, MPI_Datatype recvtype, int source, int recvtag,
	MPI_Comm comm, MPI_Request *request);
int MPI_Isendrecv_replace(void *buf, int count, MPI_Datatype datatype,
	int dest, int sendtag, int source, int recvtag, MPI_Comm comm,
	MPI_Request *request);
int MPI_Isendrecv_replace_c(void *buf, MPI_Count count, MPI_Datatype datatype,
	int dest, int sendtag, int source, int recvtag, MPI_Comm comm,
	MPI_Request *request);

/* buffered sends */
int MPI_Buffer_attach(void *buffer, int size);
int MPI_Buffer_attach_c(void *buffer, MPI_Count size);
int MPI_Buffer_detach(void *buffer_addr, int *size);
int MPI_Buffer_detach_c(void *buffer_addr, MPI_Count *size);
int MPI_Buffer_flush(void);
int MPI_Buffer_iflush(MPI_Request *request);
int MPI_Comm_attach_buffer(MPI_Comm comm, void *buffer, int size);
int MPI_Comm_attach_buffer_c(MPI_Comm comm, void *buffer, MPI_Count size);
int MPI_Comm_detach_buffer(MPI_Comm comm, void *buffer_addr, int *size);
int MPI_Comm_detach_buffer_c(MPI_Comm comm, void *buffer_addr,
	MPI_Count *size);
int MPI_Comm_flush_buffer(MPI_Comm comm);
int MPI_Comm_iflush_buffer(MPI_Comm comm, MPI_Request *request);

/* persistent */
int MPI_Send_init(const void *buf, int count, MPI_Datatype datatype, int dest,
	int tag, MPI_Comm comm, MPI_Request *request);
int MPI_Send_init_c(const void *buf, MPI_Count count, MPI_Datatype datatype,
	int dest, int tag, MPI_Comm comm, MPI_Request *request);
int MPI_Ssend_init(const void *buf, int count, MPI_Datatype datatype, int dest,
	int tag, MPI_Comm comm, MPI_Request *request);
int MPI_Ssend_init_c(const void *buf, MPI_Count count, MPI_Datatype datatype,
	int dest, int tag, MPI_Comm comm, MPI_Request *request);
int MPI_Rsend_init(const void *buf, int count, MPI_Datatype datatype, int dest,
	int tag, MPI_Comm comm, MPI_Request *request);
int MPI_Rsend_init_c(const void *buf, MPI_Count count, MPI_Datatype datatype,
	int dest, int tag, MPI_Comm comm, MPI_Request *request);
int MPI_Bsend_init(const void *buf, int count, MPI_Datatype datatype, int dest,
	int tag, MPI_Comm comm, MPI_Request *request);
int MPI_Bsend_init_c(const void *buf, MPI_Count count, MPI_Datatype datatype,
	int dest, int tag, MPI_Comm comm, MPI_Request *request);
int MPI_Recv_init(void *buf, int count, MPI_Datatype datatype, int source,
	int tag, MPI_Comm comm, MPI_Request *request);
int MPI_Recv_init_c(void *buf, MPI_Count count, MPI_Datatype datatype,
	int source, int tag, MPI_Comm comm, MPI_Request *request);
int MPI_Start(MPI_Request *request);
int MPI_Startall(int count, MPI_Request array_of_requests[]);

/* probing */
int MPI_Probe(int source, int tag, MPI_Comm comm, MPI_Status *status);
int MPI_Iprobe(int source, int tag, MPI_Comm comm, int *flag,
	MPI_Status *status);
int MPI_Mprobe(int source, int tag, MPI_Comm comm, MPI_Message *message,
	MPI_Status *status);
int MPI_Improbe(int source, int tag, MPI_Comm comm, int *flag,
	MPI_Message *message, MPI_Status *status);
int MPI_Mrecv(void *buf, int count, MPI_Datatype datatype,
	MPI_Message *message, MPI_Status *status);
int MPI_Mrecv_c(void *buf, MPI_Count count, MPI_Datatype datatype,
	MPI_Message *message, MPI_Status *status);
int MPI_Imrecv(void *buf, int count, MPI_Datatype datatype,
	MPI_Message *message, MPI_Request *request);
int MPI_Imrecv_c(void *buf, MPI_Count count, MPI_Datatype datatype,
	MPI_Message *message, MPI_Request *request);

/* completing */
int MPI_Wait(MPI_Request *request, MPI_Status *status);
int MPI_Test(MPI_Request *request, int *flag, MPI_Status *status);
int MPI_Waitall(int count, MPI_Request array_of_requests[],
	MPI_Status array_of_statuses[]);
int MPI_Testall(int count, MPI_Request array_of_requests[], int *flag,
	MPI_Status array_of_statuses[]);
int MPI_Waitany(int count, MPI_Request array_of_requests[], int *index,
	MPI_Status *status);
int MPI_Testany(int count, MPI_Request array_of_requests[], int *index,
	int *flag, MPI_Status *status);
int MPI_Waitsome(int incount, MPI_Request array_of_requests[], int *outcount,
	int array_of_indices[], MPI_Status array_of_statuses[]);
int MPI_Testsome(int incount, MPI_Request array_of_requests[], int *outcount,
	int array_of_indices[], MPI_Status array_of_statuses[]);
int MPI_Request_free(MPI_Request *request);
int MPI_Request_get_status(MPI_Request request, int *flag, MPI_Status *status);
int MPI_Request_get_status_all(int count,
	const MPI_Request array_of_requests[], int *flag,
	MPI_Status array_of_statuses[]);
int MPI_Request_get_status_any(int count,
	const MPI_Request array_of_requests[], int *index, int *flag,
	MPI_Status *status);
int MPI_Request_get_status_some(int incount,
	const MPI_Request array_of_requests[], int *outcount,
	int array_of_indices[], MPI_Status array_of_statuses[]);
int MPI_Cancel(MPI_Request *request);

/* generalized requests */
int MPI_Grequest_start(MPI_Grequest_query_function *query_fn,
	MPI_Grequest_free_function *free_fn,
	MPI_Grequest_cancel_function *cancel_fn, void *extra_state,
	MPI_Request *request);
int MPI_Grequest_complete(MPI_Request request);

/* statuses */
int MPI_Get_count(const MPI_Status *status, MPI_Datatype datatype, int *count);
int MPI_Get_count_c(const MPI_Status *status, MPI_Datatype datatype,
	MPI_Count *count);
int MPI_Get_elements(const MPI_Status *status, MPI_Datatype datatype,
	int *count);
int MPI_Get_elements_c(const MPI_Status *status, MPI_Datatype datatype,
	MPI_Count *count);
int MPI_Get_elements_x(const MPI_Status *status, MPI_Datatype datatype,
	MPI_Count *count);
int MPI_Test_cancelled(const MPI_Status *status, int *flag);
int MPI_Status_set_elements(MPI_Status *status, MPI_Datatype datatype,
	int count);
int MPI_Status_set_elements_c(MPI_Status *status, MPI_Datatype datatype,
	MPI_Count count);
int MPI_Status_set_elements_x(MPI_Status *status, MPI_Datatype datatype,
	MPI_Count count);
int MPI_Status_set_cancelled(MPI_Status *status, int flag);
int MPI_Status_get_source(const MPI_Status *status, int *source);
int MPI_Status_get_tag(const MPI_Status *status, int *tag);
int MPI_Status_get_error(const MPI_Status *status, int *err);
int MPI_Status_set_source(MPI_Status *status, int source);
int MPI_Status_set_tag(MPI_Status *status, int tag);
int MPI_Status_set_error(MPI_Status *status, int err);

/* groups */
int MPI_Group_size(MPI_Group group, int *size);
int MPI_Group_rank(MPI_Group group, int *rank);
int MPI_Group_translate_ranks(MPI_Group group1, int n, const int ranks1[],
	MPI_Group group2, int ranks2[]);
int MPI_Group_compare(MPI_Group group1, MPI_Group group2, int *result);
int MPI_Group_union(MPI_Group group1, MPI_Group group2, MPI_Group *newgroup);
int MPI_Group_intersection(MPI_Group group1, MPI_Group group2,
	MPI_Group *newgroup);
int MPI_Group_difference(MPI_Group group1, MPI_Group group2,
	MPI_Group *newgroup);
int MPI_Group_incl(MPI_Group group, int n, const int ranks[],
	MPI_Group *newgroup);
int MPI_Group_excl(MPI_Group group, int n, const int ranks[],
	MPI_Group *newgroup);
int MPI_Group_range_incl(MPI_Group group, int n, int ranges[][3],
	MPI_Group *newgroup);
int MPI_Group_range_excl(MPI_Group group, int n, int ranges[][3],
	MPI_Group *newgroup);
int MPI_Group_free(MPI_Group *group);

/* communicators */
int MPI_Comm_size(MPI_Comm comm, int *size);
int MPI_Comm_rank(MPI_Comm comm, int *rank);
int MPI_Comm_group(MPI_Comm comm, MPI_Group *group);
int MPI_Comm_compare(MPI_Comm comm1, MPI_Comm comm2, int *result);
int MPI_Comm_dup(MPI_Comm comm, MPI_Comm *newcomm);
int MPI_Comm_dup_with_info(MPI_Comm comm, MPI_Info info, MPI_Comm *newcomm);
int MPI_Comm_idup(MPI_Comm comm, MPI_Comm *newcomm, MPI_Request *request);
int MPI_Comm_idup_with_info(MPI_Comm comm, MPI_Info info, MPI_Comm *newcomm,
	MPI_Request *request);
int MPI_Comm_split(MPI_Comm comm, int color, int key, MPI_Comm *newcomm);
int MPI_Comm_split_type(MPI_Comm comm, int split_type, int key, MPI_Info info,
	MPI_Comm *newcomm);
int MPI_Comm_create(MPI_Comm comm, MPI_Group group, MPI_Comm *newcomm);
int MPI_Comm_create_group(MPI_Comm comm, MPI_Group group, int tag,
	MPI_Comm *newcomm);
int MPI_Comm_free(MPI_Comm *comm);
int MPI_Comm_disconnect(MPI_Comm *comm);
int MPI_Comm_set_name(MPI_Comm comm, const char *comm_name);
int MPI_Comm_get_name(MPI_Comm comm, char *comm_name, int *resultlen);
int MPI_Comm_set_info(MPI_Comm comm, MPI_Info info);
int MPI_Comm_get_info(MPI_Comm comm, MPI_Info *info_used);
int MPI_Comm_get_parent(MPI_Comm *parent);

/* intercommunicators */
int MPI_Comm_test_inter(MPI_Comm comm, int *flag);
int MPI_Comm_remote_size(MPI_Comm comm, int *size);
int MPI_Comm_remote_group(MPI_Comm comm, MPI_Group *group);
int MPI_Intercomm_create(MPI_Comm local_comm, int local_leader,
	MPI_Comm peer_comm, int remote_leader, int tag,
	MPI_Comm *newintercomm);
int MPI_Intercomm_merge(MPI_Comm intercomm, int high, MPI_Comm *newintracomm);

/* attributes */
int MPI_Comm_create_keyval(MPI_Comm_copy_attr_function *comm_copy_attr_fn,
	MPI_Comm_delete_attr_function *comm_delete_attr_fn, int *comm_keyval,
	void *extra_state);
int MPI_Comm_free_keyval(int *comm_keyval);
int MPI_Comm_set_attr(MPI_Comm comm, int comm_keyval, void *attribute_val);
int MPI_Comm_get_attr(MPI_Comm comm, int comm_keyval, void *attribute_val,
	int *flag);
int MPI_Comm_delete_attr(MPI_Comm comm, int comm_keyval);
int MPI_Keyval_create(MPI_Copy_function *copy_fn,
	MPI_Delete_function *delete_fn, int *keyval, void *extra_state);
int MPI_Keyval_free(int *keyval);
int MPI_Attr_put(MPI_Comm comm, int keyval, void *attribute_val);
int MPI_Attr_get(MPI_Comm comm, int keyval, void *attribute_val, int *flag);
int MPI_Attr_delete(MPI_Comm comm, int keyval);

/* info */
int MPI_Info_create(MPI_Info *info);
int MPI_Info_create_env(int argc, char *argv[], MPI_Info *info);
int MPI_Info_dup(MPI_Info info, MPI_Info *newinfo);
int MPI_Info_free(MPI_Info *info);
int MPI_Info_set(MPI_Info info, const char *key, const char *value);
int MPI_Info_delete(MPI_Info info, const char *key);
int MPI_Info_get_string(MPI_Info info, const char *key, int *buflen,
	char *value, int *flag);
int MPI_Info_get_nkeys(MPI_Info info, int *nkeys);
int MPI_Info_get_nthkey(MPI_Info info, int n, char *key);
int MPI_Info_get(MPI_Info info, const char *key, int valuelen, char *value,
	int *flag);
int MPI_Info_get_valuelen(MPI_Info info, const char *key, int *valuelen,
	int *flag);

/* errors */
int MPI_Comm_create_errhandler(
	MPI_Comm_errhandler_function *comm_errhandler_fn,
	MPI_Errhandler *errhandler);
int MPI_Comm_set_errhandler(MPI_Comm comm, MPI_Errhandler errhandler);
int MPI_Comm_get_errhandler(MPI_Comm comm, MPI_Errhandler *errhandler);
int MPI_Comm_call_errhandler(MPI_Comm comm, int errorcode);
int MPI_Errhandler_free(MPI_Errhandler *errhandler);
int MPI_Error_class(int errorcode, int *errorclass);
int MPI_Error_string(int errorcode, char *string, int *resultlen);
int MPI_Add_error_class(int *errorclass);
int MPI_Add_error_code(int errorclass, int *errorcode);
int MPI_Add_error_string(int errorcode, const char *string);
int MPI_Remove_error_class(int errorclass);
int MPI_Remove_error_code(int errorcode);
int MPI_Remove_error_string(int errorcode);

/* datatypes */
int MPI_Type_contiguous(int count, MPI_Datatype oldtype,
	MPI_Datatype *newtype);
int MPI_Type_contiguous_c(MPI_Count count, MPI_Datatype oldtype,
	MPI_Datatype *newtype);
int MPI_Type_vector(int count, int blocklength, int stride,
	MPI_Datatype oldtype, MPI_Datatype *newtype);
int MPI_Type_vector_c(MPI_Count count, MPI_Count blocklength, MPI_Count stride,
	MPI_Datatype oldtype, MPI_Datatype *newtype);
int MPI_Type_create_hvector(int count, int blocklength, MPI_Aint stride,
	MPI_Datatype oldtype, MPI_Datatype *newtype);
int MPI_Type_create_hvector_c(MPI_Count count, MPI_Count blocklength,
	MPI_Count stride, MPI_Datatype oldtype, MPI_Datatype *newtype);
int MPI_Type_indexed(int count, const int array_of_blocklengths[],
	const int array_of_displacements[], MPI_Datatype oldtype,
	MPI_Datatype *newtype);
int MPI_Type_indexed_c(MPI_Count count,
	const MPI_Count array_of_blocklengths[],
	const MPI_Count array_of_displacements[], MPI_Datatype oldtype,
	MPI_Datatype *newtype);
int MPI_Type_create_hindexed(int count, const int array_of_blocklengths[],
	const MPI_Aint array_of_displacements[], MPI_Datatype oldtype,
	MPI_Datatype *newtype);
int MPI_Type_create_hindexed_c(MPI_Count count,
	const MPI_Count array_of_blocklengths[],
	const MPI_Count array_of_displacements[], MPI_Datatype oldtype,
	MPI_Datatype *newtype);
int MPI_Type_create_indexed_block(int count, int blocklength,
	const int array_of_displacements[], MPI_Datatype oldtype,
	MPI_Datatype *newtype);
int MPI_Type_create_indexed_block_c(MPI_Count count, MPI_Count blocklength,
	const MPI_Count array_of_displacements[], MPI_Datatype oldtype,
	MPI_Datatype *newtype);
int MPI_Type_create_hindexed_block(int count, int blocklength,
	const MPI_Aint array_of_displacements[], MPI_Datatype oldtype,
	MPI_Datatype *newtype);
int MPI_Type_create_hindexed_block_c(MPI_Count count, MPI_Count blocklength,
	const MPI_Count array_of_displacements[], MPI_Datatype oldtype,
	MPI_Datatype *newtype);
int MPI_Type_create_struct(int count, const int array_of_blocklengths[],
	const MPI_Aint array_of_displacements[],
	const MPI_Datatype array_of_types[], MPI_Datatype *newtype);
int MPI_Type_create_struct_c(MPI_Count count,
	const MPI_Count array_of_blocklengths[],
	const MPI_Count array_of_displacements[],
	const MPI_Datatype array_of_types[], MPI_Datatype *newtype);
int MPI_Type_create_subarray(int ndims, const int array_of_sizes[],
	const int array_of_subsizes[], const int array_of_starts[], int order,
	MPI_Datatype oldtype, MPI_Datatype *newtype);
int MPI_Type_create_subarray_c(int ndims, const MPI_Count array_of_sizes[],
	const MPI_Count array_of_subsizes[], const MPI_Count array_of_starts[],
	int order, MPI_Datatype oldtype, MPI_Datatype *newtype);
int MPI_Type_create_darray(int size, int rank, int ndims,
	const int array_of_gsizes[], const int array_of_distribs[],
	const int array_of_dargs[], const int array_of_psizes[], int order,
	MPI_Datatype oldtype, MPI_Datatype *newtype);
int MPI_Type_create_darray_c(int size, int rank, int ndims,
	const MPI_Count array_of_gsizes[], const int array_of_distribs[],
	const int array_of_dargs[], const int array_of_psizes[], int order,
	MPI_Datatype oldtype, MPI_Datatype *newtype);
int MPI_Type_create_resized(MPI_Datatype oldtype, MPI_Aint lb, MPI_Aint extent,
	MPI_Datatype *newtype);
int MPI_Type_create_resized_c(MPI_Datatype oldtype, MPI_Count lb,
	MPI_Count extent, MPI_Datatype *newtype);
int MPI_Type_dup(MPI_Datatype oldtype, MPI_Datatype *newtype);
int MPI_Type_commit(MPI_Datatype *datatype);
int MPI_Type_free(MPI_Datatype *datatype);
int MPI_Type_size(MPI_Datatype datatype, int *size);
int MPI_Type_size_c(MPI_Datatype datatype, MPI_Count *size);
int MPI_Type_size_x(MPI_Datatype datatype, MPI_Count *size);
int MPI_Type_get_extent(MPI_Datatype datatype, MPI_Aint *lb, MPI_Aint *extent);
int MPI_Type_get_extent_c(MPI_Datatype datatype, MPI_Count *lb,
	MPI_Count *extent);
int MPI_Type_get_extent_x(MPI_Datatype datatype, MPI_Count *lb,
	MPI_Count *extent);
int MPI_Type_get_true_extent(MPI_Datatype datatype, MPI_Aint *true_lb,
	MPI_Aint *true_extent);
int MPI_Type_get_true_extent_c(MPI_Datatype datatype, MPI_Count *true_lb,
	MPI_Count *true_extent);
int MPI_Type_get_true_extent_x(MPI_Datatype datatype, MPI_Count *true_lb,
	MPI_Count *true_extent);
int MPI_Type_get_envelope(MPI_Datatype datatype, int *num_integers,
	int *num_addresses, int *num_datatypes, int *combiner);
int MPI_Type_get_envelope_c(MPI_Datatype datatype, MPI_Count *num_integers,
	MPI_Count *num_addresses, MPI_Count *num_large_counts,
	MPI_Count *num_datatypes, int *combiner);
int MPI_Type_get_contents(MPI_Datatype datatype, int max_integers,
	int max_addresses, int max_datatypes, int array_of_integers[],
	MPI_Aint array_of_addresses[], MPI_Datatype array_of_datatypes[]);
int MPI_Type_get_contents_c(MPI_Datatype datatype, MPI_Count max_integers,
	MPI_Count max_addresses, MPI_Count max_large_counts,
	MPI_Count max_datatypes, int array_of_integers[],
	MPI_Aint array_of_addresses[], MPI_Count array_of_large_counts[],
	MPI_Datatype array_of_datatypes[]);
int MPI_Type_set_name(MPI_Datatype datatype, const char *type_name);
int MPI_Type_get_name(MPI_Datatype datatype, char *type_name, int *resultlen);

/* packing */
int MPI_Pack(const void *inbuf, int incount, MPI_Datatype datatype,
	void *outbuf, int outsize, int *position, MPI_Comm comm);
int MPI_Pack_c(const void *inbuf, MPI_Count incount, MPI_Datatype datatype,
	void *outbuf, MPI_Count outsize, MPI_Count *position, MPI_Comm comm);
int MPI_Unpack(const void *inbuf, int insize, int *position, void *outbuf,
	int outcount, MPI_Datatype datatype, MPI_Comm comm);
int MPI_Unpack_c(const void *inbuf, MPI_Count insize, MPI_Count *position,
	void *outbuf, MPI_Count outcount, MPI_Datatype datatype,
	MPI_Comm comm);
int MPI_Pack_size(int incount, MPI_Datatype datatype, MPI_Comm comm,
	int *size);
int MPI_Pack_size_c(MPI_Count incount, MPI_Datatype datatype, MPI_Comm comm,
	MPI_Count *size);

/* reduction operations */
int MPI_Op_create(MPI_User_function *user_fn, int commute, MPI_Op *op);
int MPI_Op_create_c(MPI_User_function_c *user_fn, int commute, MPI_Op *op);
int MPI_Op_free(MPI_Op *op);
int MPI_Op_commutative(MPI_Op op, int *commute);
int MPI_Reduce_local(const void *inbuf, void *inoutbuf, int count,
	MPI_Datatype datatype, MPI_Op op);
int MPI_Reduce_local_c(const void *inbuf, void *inoutbuf, MPI_Count count,
	MPI_Datatype datatype, MPI_Op op);

/* collectives */
int MPI_Barrier(MPI_Comm comm);
int MPI_Bcast(void *buffer, int count, MPI_Datatype datatype, int root,
	MPI_Comm comm);
int MPI_Bcast_c(void *buffer, MPI_Count count, MPI_Datatype datatype, int root,
	MPI_Comm comm);
int MPI_Gather(const void *sendbuf, int sendcount, MPI_Datatype sendtype,
	void *recvbuf, int recvcount, MPI_Datatype recvtype, int root,
	MPI_Comm comm);
int MPI_Gather_c(const void *sendbuf, MPI_Count sendcount,
	MPI_Datatype sendtype, void *recvbuf, MPI_Count recvcount,
	MPI_Datatype recvtype, int root, MPI_Comm comm);
int MPI_Gatherv(const void *sendbuf, int sendcount, MPI_Datatype sendtype,
	void *recvbuf, const int recvcounts[], const int displs[],
	MPI_Datatype recvtype, int root, MPI_Comm comm);
int MPI_Gatherv_c(const void *sendbuf, MPI_Count sendcount,
	MPI_Datatype sendtype, void *recvbuf, const MPI_Count recvcounts[],
	const MPI_Aint displs[], MPI_Datatype recvtype, int root,
	MPI_Comm comm);
int MPI_Scatter(const void *sendbuf, int sendcount, MPI_Datatype sendtype,
	void *recvbuf, int recvcount, MPI_Datatype recvtype, int root,
	MPI_Comm comm);
int MPI_Scatter_c(const void *sendbuf, MPI_Count sendcount,
	MPI_Datatype sendtype, void *recvbuf, MPI_Count recvcount,
	MPI_Datatype recvtype, int root, MPI_Comm comm);
int MPI_Scatterv(const void *sendbuf, const int sendcounts[],
	const int displs[], MPI_Datatype sendtype, void *recvbuf,
	int recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm);
int MPI_Scatterv_c(const void *sendbuf, const MPI_Count sendcounts[],
	const MPI_Aint displs[], MPI_Datatype sendtype, void *recvbuf,
	MPI_Count recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm);
int MPI_Allgather(const void *sendbuf, int sendcount, MPI_Datatype sendtype,
	void *recvbuf, int recvcount, MPI_Datatype recvtype, MPI_Comm comm);
int MPI_Allgather_c(const void *sendbuf, MPI_Count sendcount,
	MPI_Datatype sendtype, void *recvbuf, MPI_Count recvcount,
	MPI_Datatype recvtype, MPI_Comm comm);
int MPI_Allgatherv(const void *sendbuf, int sendcount, MPI_Datatype sendtype,
	void *recvbuf, const int recvcounts[], const int displs[],
	MPI_Datatype recvtype, MPI_Comm comm);
int MPI_Allgatherv_c(const void *sendbuf, MPI_Count sendcount,
	MPI_Datatype sendtype, void *recvbuf, const MPI_Count recvcounts[],
	const MPI_Aint displs[], MPI_Datatype recvtype, MPI_Comm comm);
int MPI_Alltoall(const void *sendbuf, int sendcount, MPI_Datatype sendtype,
	void *recvbuf, int recvcount, MPI_Datatype recvtype, MPI_Comm comm);
int MPI_Alltoall_c(const void *sendbuf, MPI_Count sendcount,
	MPI_Datatype sendtype, void *recvbuf, MPI_Count recvcount,
	MPI_Datatype recvtype, MPI_Comm comm);
int MPI_Alltoallv(const void *sendbuf, const int sendcounts[],
	const int sdispls[], MPI_Datatype sendtype, void *recvbuf,
	const int recvcounts[], const int rdispls[], MPI_Datatype recvtype,
	MPI_Comm comm);
int MPI_Alltoallv_c(const void *sendbuf, const MPI_Count sendcounts[],
	const MPI_Aint sdispls[], MPI_Datatype sendtype, void *recvbuf,
	const MPI_Count recvcounts[], const MPI_Aint rdispls[],
	MPI_Datatype recvtype, MPI_Comm comm);
int MPI_Alltoallw(const void *sendbuf, const int sendcounts[],
	const int sdispls[], const MPI_Datatype sendtypes[], void *recvbuf,
	const int recvcounts[], const int rdispls[],
	const MPI_Datatype recvtypes[], MPI_Comm comm);
int MPI_Alltoallw_c(const void *sendbuf, const MPI_Count sendcounts[],
	const MPI_Aint sdispls[], const MPI_Datatype sendtypes[],
	void *recvbuf, const MPI_Count recvcounts[], const MPI_Aint rdispls[],
	const MPI_Datatype recvtypes[], MPI_Comm comm);
int MPI_Reduce(const void *sendbuf, void *recvbuf, int count,
	MPI_Datatype datatype, MPI_Op op, int root, MPI_Comm comm);
int MPI_Reduce_c(const void *sendbuf, void *recvbuf, MPI_Count count,
	MPI_Datatype datatype, MPI_Op op, int root, MPI_Comm comm);
int MPI_Allreduce(const void *sendbuf, void *recvbuf, int count,
	MPI_Datatype datatype, MPI_Op op, MPI_Comm comm);
int MPI_Allreduce_c(const void *sendbuf, void *recvbuf, MPI_Count count,
	MPI_Datatype datatype, MPI_Op op, MPI_Comm comm);
int MPI_Reduce_scatter(const void *sendbuf, void *recvbuf,
	const int recvcounts[], MPI_Datatype datatype, MPI_Op op,
	MPI_Comm comm);
int MPI_Reduce_scatter_c(const void *sendbuf, void *recvbuf,
	const MPI_Count recvcounts[], MPI_Datatype datatype, MPI_Op op,
	MPI_Comm comm);
int MPI_Reduce_scatter_block(const void *sendbuf, void *recvbuf, int recvcount,
	MPI_Datatype datatype, MPI_Op op, MPI_Comm comm);
int MPI_Reduce_scatter_block_c(const void *sendbuf, void *recvbuf,
	MPI_Count recvcount, MPI_Datatype datatype, MPI_Op op, MPI_Comm comm);
int MPI_Scan(const void *sendbuf, void *recvbuf, int count,
	MPI_Datatype datatype, MPI_Op op, MPI_Comm comm);
int MPI_Scan_c(const void *sendbuf, void *recvbuf, MPI_Count count,
	MPI_Datatype datatype, MPI_Op op, MPI_Comm comm);
int MPI_Exscan(const void *sendbuf, void *recvbuf, int count,
	MPI_Datatype datatype, MPI_Op op, MPI_Comm comm);
int MPI_Exscan_c(const void *sendbuf, void *recvbuf, MPI_Count count,
	MPI_Datatype datatype, MPI_Op op, MPI_Comm comm);

/*
 * --- functions under their profiling names ---
 */

/* starting and ending */
int PMPI_Init(int *argc, char ***argv);
int PMPI_Init_thread(int *argc, char ***argv, int required, int *provided);
int PMPI_Initialized(int *flag);
int PMPI_Finalize(void);
int PMPI_Finalized(int *flag);
int PMPI_Query_thread(int *provided);
int PMPI_Is_thread_main(int *flag);
int PMPI_Abort(MPI_Comm comm, int errorcode);

/* the process and its surroundings */
int PMPI_Get_processor_name(char *name, int *resultlen);
int PMPI_Get_version(int *version, int *subversion);
int PMPI_Get_library_version(char *version, int *resultlen);
int PMPI_Abi_get_version(int *abi_major, int *abi_minor);
int PMPI_Abi_get_info(MPI_Info *info);
double PMPI_Wtime(void);
double PMPI_Wtick(void);
int PMPI_Pcontrol(const int level, ...);
int PMPI_Get_address(const void *location, MPI_Aint *address);
MPI_Aint PMPI_Aint_add(MPI_Aint base, MPI_Aint disp);
MPI_Aint PMPI_Aint_diff(MPI_Aint addr1, MPI_Aint addr2);
int PMPI_Alloc_mem(MPI_Aint size, MPI_Info info, void *baseptr);
int PMPI_Free_mem(void *base);

/* sending */
int PMPI_Send(const void *buf, int count, MPI_Datatype datatype, int dest,
	int tag, MPI_Comm comm);
int PMPI_Send_c(const void *buf, MPI_Count count, MPI_Datatype datatype,
	int dest, int tag, MPI_Comm comm);
int PMPI_Ssend(const void *buf, int count, MPI_Datatype datatype, int dest,
	int tag, MPI_Comm comm);
int PMPI_Ssend_c(const void *buf, MPI_Count count, MPI_Datatype datatype,
	int dest, int tag, MPI_Comm comm);
int PMPI_Rsend(const void *buf, int count, MPI_Datatype datatype, int dest,
	int tag, MPI_Comm comm);
int PMPI_Rsend_c(const void *buf, MPI_Count count, MPI_Datatype datatype,
	int dest, int tag, MPI_Comm comm);
int PMPI_Bsend(const void *buf, int count, MPI_Datatype datatype, int dest,
	int tag, MPI_Comm comm);
int PMPI_Bsend_c(const void *buf, MPI_Count count, MPI_Datatype datatype,
	int dest, int tag, MPI_Comm comm);
int PMPI_Isend(const void *buf, int count, MPI_Datatype datatype, int dest,
	int tag, MPI_Comm comm, MPI_Request *request);
int PMPI_Isend_c(const void *buf, MPI_Count count, MPI_Datatype datatype,
	int dest, int tag, MPI_Comm comm, MPI_Request *request);
int PMPI_Issend(const void *buf, int count, MPI_Datatype datatype, int dest,
	int tag, MPI_Comm comm, MPI_Request *request);
int PMPI_Issend_c(const void *buf, MPI_Count count, MPI_Datatype datatype,
	int dest, int tag, MPI_Comm comm, MPI_Request *request);
int PMPI_Irsend(const void *buf, int count, MPI_Datatype datatype, int dest,
	int tag, MPI_Comm comm, MPI_Request *request);
int PMPI_Irsend_c(const void *buf, MPI_Count count, MPI_Datatype datatype,
	int dest, int tag, MPI_Comm comm, MPI_Request *request);
int PMPI_Ibsend(const void *buf, int count, MPI_Datatype datatype, int dest,
	int tag, MPI_Comm comm, MPI_Request *request);
int PMPI_Ibsend_c(const void *buf, MPI_Count count, MPI_Datatype datatype,
	int dest, int tag, MPI_Comm comm, MPI_Request *request);

/* receiving */
int PMPI_Recv(void *buf, int count, MPI_Datatype datatype, int source, int tag,
	MPI_Comm comm, MPI_Status *status);
int PMPI_Recv_c(void *buf, MPI_Count count, MPI_Datatype datatype, int source,
	int tag, MPI_Comm comm, MPI_Status *status);
int PMPI_Irecv(void *buf, int count, MPI_Datatype datatype, int source,
	int tag, MPI_Comm comm, MPI_Request *request);
int PMPI_Irecv_c(void *buf, MPI_Count count, MPI_Datatype datatype, int source,
	int tag, MPI_Comm comm, MPI_Request *request);

/* both */
int PMPI_Sendrecv(const void *sendbuf, int sendcount, MPI_Datatype sendtype,
	int dest, int sendtag, void *recvbuf, int recvcount,
	MPI_Datatype recvtype, int source, int recvtag, MPI_Comm comm,
	MPI_Status *status);
int PMPI_Sendrecv_c(const void *sendbuf, MPI_Count sendcount,
	MPI_Datatype sendtype, int dest, int sendtag, void *recvbuf,
	MPI_Count recvcount, MPI_Datatype recvtype, int source, int recvtag,
	MPI_Comm comm, MPI_Status *status);
int PMPI_Sendrecv_replace(void *buf, int count, MPI_Datatype datatype,
	int dest, int sendtag, int source, int recvtag, MPI_Comm comm,
	MPI_Status *status);
int PMPI_Sendrecv_replace_c(void *buf, MPI_Count count, MPI_Datatype datatype,
	int dest, int sendtag, int source, int recvtag, MPI_Comm comm,
	MPI_Status *status);
int PMPI_Isendrecv(const void *sendbuf, int sendcount, MPI_Datatype sendtype,
	int dest, int sendtag, void *recvbuf, int recvcount,
	MPI_Datatype recvtype, int source, int recvtag, MPI_Comm comm,
	MPI_Request *request);
int PMPI_Isendrecv_c(const void *sendbuf, MPI_Count sendcount,
	MPI_Datatype sendtype, int dest, int sendtag, void *recvbuf,
	MPI_Count recvcount, MPI_Datatype recvtype, int source, int recvtag,
	MPI_Comm comm, MPI_Request *request);
int PMPI_Isendrecv_replace(void *buf, int count, MPI_Datatype datatype,
	int dest, int sendtag, int source, int recvtag, MPI_Comm comm,
	MPI_Request *request);
int PMPI_Isendrecv_replace_c(void *buf, MPI_Count count, MPI_Datatype datatype,
	int dest, int sendtag, int source, int recvtag, MPI_Comm comm,
	MPI_Request *request);

/* buffered sends */
int PMPI_Buffer_attach(void *buffer, int size);
int PMPI_Buffer_attach_c(void *buffer, MPI_Count size);
int PMPI_Buffer_detach(void *buffer_addr, int *size);
int PMPI_Buffer_detach_c(void *buffer_addr, MPI_Count *size);
int PMPI_Buffer_flush(void);
int PMPI_Buffer_iflush(MPI_Request *request);
int PMPI_Comm_attach_buffer(MPI_Comm comm, void *buffer, int size);
int PMPI_Comm_attach_buffer_c(MPI_Comm comm, void *buffer, MPI_Count size);
int PMPI_Comm_detach_buffer(MPI_Comm comm, void *buffer_addr, int *size);
int PMPI_Comm_detach_buffer_c(MPI_Comm comm, void *buffer_addr,
	MPI_Count *size);
int PMPI_Comm_flush_buffer(MPI_Comm comm);
int PMPI_Comm_iflush_buffer(MPI_Comm comm, MPI_Request *request);

/* persistent */
int PMPI_Send_init(const void *buf, int count, MPI_Datatype datatype, int dest,
	int tag, MPI_Comm comm, MPI_Request *request);
int PMPI_Send_init_c(const void *buf, MPI_Count count, MPI_Datatype datatype,
	int dest, int tag, MPI_Comm comm, MPI_Request *request);
int PMPI_Ssend_init(const void *buf, int count, MPI_Datatype datatype,
	int dest, int tag, MPI_Comm comm, MPI_Request *request);
int PMPI_Ssend_init_c(const void *buf, MPI_Count count, MPI_Datatype datatype,
	int dest, int tag, MPI_Comm comm, MPI_Request *request);
int PMPI_Rsend_init(const void *buf, int count, MPI_Datatype datatype,
	int dest, int tag, MPI_Comm comm, MPI_Request *request);
int PMPI_Rsend_init_c(const void *buf, MPI_Count count, MPI_Datatype datatype,
	int dest, int tag, MPI_Comm comm, MPI_Request *request);
int PMPI_Bsend_init(const void *buf, int count, MPI_Datatype datatype,
	int dest, int tag, MPI_Comm comm, MPI_Request *request);
int PMPI_Bsend_init_c(const void *buf, MPI_Count count, MPI_Datatype datatype,
	int dest, int tag, MPI_Comm comm, MPI_Request *request);
int PMPI_Recv_init(void *buf, int count, MPI_Datatype datatype, int source,
	int tag, MPI_Comm comm, MPI_Request *request);
int PMPI_Recv_init_c(void *buf, MPI_Count count, MPI_Datatype datatype,
	int source, int tag, MPI_Comm comm, MPI_Request *request);
int PMPI_Start(MPI_Request *request);
int PMPI_Startall(int count, MPI_Request array_of_requests[]);

/* probing */
int PMPI_Probe(int source, int tag, MPI_Comm comm, MPI_Status *status);
int PMPI_Iprobe(int source, int tag, MPI_Comm comm, int *flag,
	MPI_Status *status);
int PMPI_Mprobe(int source, int tag, MPI_Comm comm, MPI_Message *message,
	MPI_Status *status);
int PMPI_Improbe(int source, int tag, MPI_Comm comm, int *flag,
	MPI_Message *message, MPI_Status *status);
int PMPI_Mrecv(void *buf, int count, MPI_Datatype datatype,
	MPI_Message *message, MPI_Status *status);
int PMPI_Mrecv_c(void *buf, MPI_Count count, MPI_Datatype datatype,
	MPI_Message *message, MPI_Status *status);
int PMPI_Imrecv(void *buf, int count, MPI_Datatype datatype,
	MPI_Message *message, MPI_Request *request);
int PMPI_Imrecv_c(void *buf, MPI_Count count, MPI_Datatype datatype,
	MPI_Message *message, MPI_Request *request);

/* completing */
int PMPI_Wait(MPI_Request *request, MPI_Status *status);
int PMPI_Test(MPI_Request *request, int *flag, MPI_Status *status);
int PMPI_Waitall(int count, MPI_Request array_of_requests[],
	MPI_Status array_of_statuses[]);
int PMPI_Testall(int count, MPI_Request array_of_requests[], int *flag,
	MPI_Status array_of_statuses[]);
int PMPI_Waitany(int count, MPI_Request array_of_requests[], int *index,
	MPI_Status *status);
int PMPI_Testany(int count, MPI_Request array_of_requests[], int *index,
	int *flag, MPI_Status *status);
int PMPI_Waitsome(int incount, MPI_Request array_of_requests[], int *outcount,
	int array_of_indices[], MPI_Status array_of_statuses[]);
int PMPI_Testsome(int incount, MPI_Request array_of_requests[], int *outcount,
	int array_of_indices[], MPI_Status array_of_statuses[]);
int PMPI_Request_free(MPI_Request *request);
int PMPI_Request_get_status(MPI_Request request, int *flag,
	MPI_Status *status);
int PMPI_Request_get_status_all(int count,
	const MPI_Request array_of_requests[], int *flag,
	MPI_Status array_of_statuses[]);
int PMPI_Request_get_status_any(int count,
	const MPI_Request array_of_requests[], int *index, int *flag,
	MPI_Status *status);
int PMPI_Request_get_status_some(int incount,
	const MPI_Request array_of_requests[], int *outcount,
	int array_of_indices[], MPI_Status array_of_statuses[]);
int PMPI_Cancel(MPI_Request *request);

/* generalized requests */
int PMPI_Grequest_start(MPI_Grequest_query_function *query_fn,
	MPI_Grequest_free_function *free_fn,
	MPI_Grequest_cancel_function *cancel_fn, void *extra_state,
	MPI_Request *request);
int PMPI_Grequest_complete(MPI_Request request);

/* statuses */
int PMPI_Get_count(const MPI_Status *status, MPI_Datatype datatype,
	int *count);
int PMPI_Get_count_c(const MPI_Status *status, MPI_Datatype datatype,
	MPI_Count *count);
int PMPI_Get_elements(const MPI_Status *status, MPI_Datatype datatype,
	int *count);
int PMPI_Get_elements_c(const MPI_Status *status, MPI_Datatype datatype,
	MPI_Count *count);
int PMPI_Get_elements_x(const MPI_Status *status, MPI_Datatype datatype,
	MPI_Count *count);
int PMPI_Test_cancelled(const MPI_Status *status, int *flag);
int PMPI_Status_set_elements(MPI_Status *status, MPI_Datatype datatype,
	int count);
int PMPI_Status_set_elements_c(MPI_Status *status, MPI_Datatype datatype,
	MPI_Count count);
int PMPI_Status_set_elements_x(MPI_Status *status, MPI_Datatype datatype,
	MPI_Count count);
int PMPI_Status_set_cancelled(MPI_Status *status, int flag);
int PMPI_Status_get_source(const MPI_Status *status, int *source);
int PMPI_Status_get_tag(const MPI_Status *status, int *tag);
int PMPI_Status_get_error(const MPI_Status *status, int *err);
int PMPI_Status_set_source(MPI_Status *status, int source);
int PMPI_Status_set_tag(MPI_Status *status, int tag);
int PMPI_Status_set_error(MPI_Status *status, int err);

/* groups */
int PMPI_Group_size(MPI_Group group, int *size);
int PMPI_Group_rank(MPI_Group group, int *rank);
int PMPI_Group_translate_ranks(MPI_Group group1, int n, const int ranks1[],
	MPI_Group group2, int ranks2[]);
int PMPI_Group_compare(MPI_Group group1, MPI_Group group2, int *result);
int PMPI_Group_union(MPI_Group group1, MPI_Group group2, MPI_Group *newgroup);
int PMPI_Group_intersection(MPI_Group group1, MPI_Group group2,
	MPI_Group *newgroup);
int PMPI_Group_difference(MPI_Group group1, MPI_Group group2,
	MPI_Group *newgroup);
int PMPI_Group_incl(MPI_Group group, int n, const int ranks[],
	MPI_Group *newgroup);
int PMPI_Group_excl(MPI_Group group, int n, const int ranks[],
	MPI_Group *newgroup);
int PMPI_Group_range_incl(MPI_Group group, int n, int ranges[][3],
	MPI_Group *newgroup);
int PMPI_Group_range_excl(MPI_Group group, int n, int ranges[][3],
	MPI_Group *newgroup);
int PMPI_Group_free(MPI_Group *group);

/* communicators */
int PMPI_Comm_size(MPI_Comm comm, int *size);
int PMPI_Comm_rank(MPI_Comm comm, int *rank);
int PMPI_Comm_group(MPI_Comm comm, MPI_Group *group);
int PMPI_Comm_compare(MPI_Comm comm1, MPI_Comm comm2, int *result);
int PMPI_Comm_dup(MPI_Comm comm, MPI_Comm *newcomm);
int PMPI_Comm_dup_with_info(MPI_Comm comm, MPI_Info info, MPI_Comm *newcomm);
int PMPI_Comm_idup(MPI_Comm comm, MPI_Comm *newcomm, MPI_Request *request);
int PMPI_Comm_idup_with_info(MPI_Comm comm, MPI_Info info, MPI_Comm *newcomm,
	MPI_Request *request);
int PMPI_Comm_split(MPI_Comm comm, int color, int key, MPI_Comm *newcomm);
int PMPI_Comm_split_type(MPI_Comm comm, int split_type, int key, MPI_Info info,
	MPI_Comm *newcomm);
int PMPI_Comm_create(MPI_Comm comm, MPI_Group group, MPI_Comm *newcomm);
int PMPI_Comm_create_group(MPI_Comm comm, MPI_Group group, int tag,
	MPI_Comm *newcomm);
int PMPI_Comm_free(MPI_Comm *comm);
int PMPI_Comm_disconnect(MPI_Comm *comm);
int PMPI_Comm_set_name(MPI_Comm comm, const char *comm_name);
int PMPI_Comm_get_name(MPI_Comm comm, char *comm_name, int *resultlen);
int PMPI_Comm_set_info(MPI_Comm comm, MPI_Info info);
int PMPI_Comm_get_info(MPI_Comm comm, MPI_Info *info_used);
int PMPI_Comm_get_parent(MPI_Comm *parent);

/* intercommunicators */
int PMPI_Comm_test_inter(MPI_Comm comm, int *flag);
int PMPI_Comm_remote_size(MPI_Comm comm, int *size);
int PMPI_Comm_remote_group(MPI_Comm comm, MPI_Group *group);
int PMPI_Intercomm_create(MPI_Comm local_comm, int local_leader,
	MPI_Comm peer_comm, int remote_leader, int tag,
	MPI_Comm *newintercomm);
int PMPI_Intercomm_merge(MPI_Comm intercomm, int high, MPI_Comm *newintracomm);

/* attributes */
int PMPI_Comm_create_keyval(MPI_Comm_copy_attr_function *comm_copy_attr_fn,
	MPI_Comm_delete_attr_function *comm_delete_attr_fn, int *comm_keyval,
	void *extra_state);
int PMPI_Comm_free_keyval(int *comm_keyval);
int PMPI_Comm_set_attr(MPI_Comm comm, int comm_keyval, void *attribute_val);
int PMPI_Comm_get_attr(MPI_Comm comm, int comm_keyval, void *attribute_val,
	int *flag);
int PMPI_Comm_delete_attr(MPI_Comm comm, int comm_keyval);
int PMPI_Keyval_create(MPI_Copy_function *copy_fn,
	MPI_Delete_function *delete_fn, int *keyval, void *extra_state);
int PMPI_Keyval_free(int *keyval);
int PMPI_Attr_put(MPI_Comm comm, int keyval, void *attribute_val);
int PMPI_Attr_get(MPI_Comm comm, int keyval, void *attribute_val, int *flag);
int PMPI_Attr_delete(MPI_Comm comm, int keyval);

/* info */
int PMPI_Info_create(MPI_Info *info);
int PMPI_Info_create_env(int argc, char *argv[], MPI_Info *info);
int PMPI_Info_dup(MPI_Info info, MPI_Info *newinfo);
int PMPI_Info_free(MPI_Info *info);
int PMPI_Info_set(MPI_Info info, const char *key, const char *value);
int PMPI_Info_delete(MPI_Info info, const char *key);
int PMPI_Info_get_string(MPI_Info info, const char *key, int *buflen,
	char *value, int *flag);
int PMPI_Info_get_nkeys(MPI_Info info, int *nkeys);
int PMPI_Info_get_nthkey(MPI_Info info, int n, char *key);
int PMPI_Info_get(MPI_Info info, const char *key, int valuelen, char *value,
	int *flag);
int PMPI_Info_get_valuelen(MPI_Info info, const char *key, int *valuelen,
	int *flag);

/* errors */
int PMPI_Comm_create_errhandler(
	MPI_Comm_errhandler_function *comm_errhandler_fn,
	MPI_Errhandler *errhandler);
int PMPI_Comm_set_errhandler(MPI_Comm comm, MPI_Errhandler errhandler);
int PMPI_Comm_get_errhandler(MPI_Comm comm, MPI_Errhandler *errhandler);
int PMPI_Comm_call_errhandler(MPI_Comm comm, int errorcode);
int PMPI_Errhandler_free(MPI_Errhandler *errhandler);
int PMPI_Error_class(int errorcode, int *errorclass);
int PMPI_Error_string(int errorcode, char *string, int *resultlen);
int PMPI_Add_error_class(int *errorclass);
int PMPI_Add_error_code(int errorclass, int *errorcode);
int PMPI_Add_error_string(int errorcode, const char *string);
int PMPI_Remove_error_class(int errorclass);
int PMPI_Remove_error_code(int errorcode);
int PMPI_Remove_error_string(int errorcode);

/* datatypes */
int PMPI_Type_contiguous(int count, MPI_Datatype oldtype,
	MPI_Datatype *newtype);
int PMPI_Type_contiguous_c(MPI_Count count, MPI_Datatype oldtype,
	MPI_Datatype *newtype);
int PMPI_Type_vector(int count, int blocklength, int stride,
	MPI_Datatype oldtype, MPI_Datatype *newtype);
int PMPI_Type_vector_c(MPI_Count count, MPI_Count blocklength,
	MPI_Count stride, MPI_Datatype oldtype, MPI_Datatype *newtype);
int PMPI_Type_create_hvector(int count, int blocklength, MPI_Aint stride,
	MPI_Datatype oldtype, MPI_Datatype *newtype);
int PMPI_Type_create_hvector_c(MPI_Count count, MPI_Count blocklength,
	MPI_Count stride, MPI_Datatype oldtype, MPI_Datatype *newtype);
int PMPI_Type_indexed(int count, const int array_of_blocklengths[],
	const int array_of_displacements[], MPI_Datatype oldtype,
	MPI_Datatype *newtype);
int PMPI_Type_indexed_c(MPI_Count count,
	const MPI_Count array_of_blocklengths[],
	const MPI_Count array_of_displacements[], MPI_Datatype oldtype,
	MPI_Datatype *newtype);
int PMPI_Type_create_hindexed(int count, const int array_of_blocklengths[],
	const MPI_Aint array_of_displacements[], MPI_Datatype oldtype,
	MPI_Datatype *newtype);
int PMPI_Type_create_hindexed_c(MPI_Count count,
	const MPI_Count array_of_blocklengths[],
	const MPI_Count array_of_displacements[], MPI_Datatype oldtype,
	MPI_Datatype *newtype);
int PMPI_Type_create_indexed_block(int count, int blocklength,
	const int array_of_displacements[], MPI_Datatype oldtype,
	MPI_Datatype *newtype);
int PMPI_Type_create_indexed_block_c(MPI_Count count, MPI_Count blocklength,
	const MPI_Count array_of_displacements[], MPI_Datatype oldtype,
	MPI_Datatype *newtype);
int PMPI_Type_create_hindexed_block(int count, int blocklength,
	const MPI_Aint array_of_displacements[], MPI_Datatype oldtype,
	MPI_Datatype *newtype);
int PMPI_Type_create_hindexed_block_c(MPI_Count count, MPI_Count blocklength,
	const MPI_Count array_of_displacements[], MPI_Datatype oldtype,
	MPI_Datatype *newtype);
int PMPI_Type_create_struct(int count, const int array_of_blocklengths[],
	const MPI_Aint array_of_displacements[],
	const MPI_Datatype array_of_types[], MPI_Datatype *newtype);
int PMPI_Type_create_struct_c(MPI_Count count,
	const MPI_Count array_of_blocklengths[],
	const MPI_Count array_of_displacements[],
	const MPI_Datatype array_of_types[], MPI_Datatype *newtype);
int PMPI_Type_create_subarray(int ndims, const int array_of_sizes[],
	const int array_of_subsizes[], const int array_of_starts[], int order,
	MPI_Datatype oldtype, MPI_Datatype *newtype);
int PMPI_Type_create_subarray_c(int ndims, const MPI_Count array_of_sizes[],
	const MPI_Count array_of_subsizes[], const MPI_Count array_of_starts[],
	int order, MPI_Datatype oldtype, MPI_Datatype *newtype);
int PMPI_Type_create_darray(int size, int rank, int ndims,
	const int array_of_gsizes[], const int array_of_distribs[],
	const int array_of_dargs[], const int array_of_psizes[], int order,
	MPI_Datatype oldtype, MPI_Datatype *newtype);
int PMPI_Type_create_darray_c(int size, int rank, int ndims,
	const MPI_Count array_of_gsizes[], const int array_of_distribs[],
	const int array_of_dargs[], const int array_of_psizes[], int order,
	MPI_Datatype oldtype, MPI_Datatype *newtype);
int PMPI_Type_create_resized(MPI_Datatype oldtype, MPI_Aint lb,
	MPI_Aint extent, MPI_Datatype *newtype);
int PMPI_Type_create_resized_c(MPI_Datatype oldtype, MPI_Count lb,
	MPI_Count extent, MPI_Datatype *newtype);
int PMPI_Type_dup(MPI_Datatype oldtype, MPI_Datatype *newtype);
int PMPI_Type_commit(MPI_Datatype *datatype);
int PMPI_Type_free(MPI_Datatype *datatype);
int PMPI_Type_size(MPI_Datatype datatype, int *size);
int PMPI_Type_size_c(MPI_Datatype datatype, MPI_Count *size);
int PMPI_Type_size_x(MPI_Datatype datatype, MPI_Count *size);
int PMPI_Type_get_extent(MPI_Datatype datatype, MPI_Aint *lb,
	MPI_Aint *extent);
int PMPI_Type_get_extent_c(MPI_Datatype datatype, MPI_Count *lb,
	MPI_Count *extent);
int PMPI_Type_get_extent_x(MPI_Datatype datatype, MPI_Count *lb,
	MPI_Count *extent);
int PMPI_Type_get_true_extent(MPI_Datatype datatype, MPI_Aint *true_lb,
	MPI_Aint *true_extent);
int PMPI_Type_get_true_extent_c(MPI_Datatype datatype, MPI_Count *true_lb,
	MPI_Count *true_extent);
int PMPI_Type_get_true_extent_x(MPI_Datatype datatype, MPI_Count *true_lb,
	MPI_Count *true_extent);
int PMPI_Type_get_envelope(MPI_Datatype datatype, int *num_integers,
	int *num_addresses, int *num_datatypes, int *combiner);
int PMPI_Type_get_envelope_c(MPI_Datatype datatype, MPI_Count *num_integers,
	MPI_Count *num_addresses, MPI_Count *num_large_counts,
	MPI_Count *num_datatypes, int *combiner);
int PMPI_Type_get_contents(MPI_Datatype datatype, int max_integers,
	int max_addresses, int max_datatypes, int array_of_integers[],
	MPI_Aint array_of_addresses[], MPI_Datatype array_of_datatypes[]);
int PMPI_Type_get_contents_c(MPI_Datatype datatype, MPI_Count max_integers,
	MPI_Count max_addresses, MPI_Count max_large_counts,
	MPI_Count max_datatypes, int array_of_integers[],
	MPI_Aint array_of_addresses[], MPI_Count array_of_large_counts[],
	MPI_Datatype array_of_datatypes[]);
int PMPI_Type_set_name(MPI_Datatype datatype, const char *type_name);
int PMPI_Type_get_name(MPI_Datatype datatype, char *type_name, int *resultlen);

/* packing */
int PMPI_Pack(const void *inbuf, int incount, MPI_Datatype datatype,
	void *outbuf, int outsize, int *position, MPI_Comm comm);
int PMPI_Pack_c(const void *inbuf, MPI_Count incount, MPI_Datatype datatype,
	void *outbuf, MPI_Count outsize, MPI_Count *position, MPI_Comm comm);
int PMPI_Unpack(const void *inbuf, int insize, int *position, void *outbuf,
	int outcount, MPI_Datatype datatype, MPI_Comm comm);
int PMPI_Unpack_c(const void *inbuf, MPI_Count insize, MPI_Count *position,
	void *outbuf, MPI_Count outcount, MPI_Datatype datatype,
	MPI_Comm comm);
int PMPI_Pack_size(int incount, MPI_Datatype datatype, MPI_Comm comm,
	int *size);
int PMPI_Pack_size_c(MPI_Count incount, MPI_Datatype datatype, MPI_Comm comm,
	MPI_Count *size);

/* reduction operations */
int PMPI_Op_create(MPI_User_function *user_fn, int commute, MPI_Op *op);
int PMPI_Op_create_c(MPI_User_function_c *user_fn, int commute, MPI_Op *op);
int PMPI_Op_free(MPI_Op *op);
int PMPI_Op_commutative(MPI_Op op, int *commute);
int PMPI_Reduce_local(const void *inbuf, void *inoutbuf, int count,
	MPI_Datatype datatype, MPI_Op op);
int PMPI_Reduce_local_c(const void *inbuf, void *inoutbuf, MPI_Count count,
	MPI_Datatype datatype, MPI_Op op);

/* collectives */
int PMPI_Barrier(MPI_Comm comm);
int PMPI_Bcast(void *buffer, int count, MPI_Datatype datatype, int root,
	MPI_Comm comm);
int PMPI_Bcast_c(void *buffer, MPI_Count count, MPI_Datatype datatype,
	int root, MPI_Comm comm);
int PMPI_Gather(const void *sendbuf, int sendcount, MPI_Datatype sendtype,
	void *recvbuf, int recvcount, MPI_Datatype recvtype, int root,
	MPI_Comm comm);
int PMPI_Gather_c(const void *sendbuf, MPI_Count sendcount,
	MPI_Datatype sendtype, void *recvbuf, MPI_Count recvcount,
	MPI_Datatype recvtype, int root, MPI_Comm comm);
int PMPI_Gatherv(const void *sendbuf, int sendcount, MPI_Datatype sendtype,
	void *recvbuf, const int recvcounts[], const int displs[],
	MPI_Datatype recvtype, int root, MPI_Comm comm);
int PMPI_Gatherv_c(const void *sendbuf, MPI_Count sendcount,
	MPI_Datatype sendtype, void *recvbuf, const MPI_Count recvcounts[],
	const MPI_Aint displs[], MPI_Datatype recvtype, int root,
	MPI_Comm comm);
int PMPI_Scatter(const void *sendbuf, int sendcount, MPI_Datatype sendtype,
	void *recvbuf, int recvcount, MPI_Datatype recvtype, int root,
	MPI_Comm comm);
int PMPI_Scatter_c(const void *sendbuf, MPI_Count sendcount,
	MPI_Datatype sendtype, void *recvbuf, MPI_Count recvcount,
	MPI_Datatype recvtype, int root, MPI_Comm comm);
int PMPI_Scatterv(const void *sendbuf, const int sendcounts[],
	const int displs[], MPI_Datatype sendtype, void *recvbuf,
	int recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm);
int PMPI_Scatterv_c(const void *sendbuf, const MPI_Count sendcounts[],
	const MPI_Aint displs[], MPI_Datatype sendtype, void *recvbuf,
	MPI_Count recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm);
int PMPI_Allgather(const void *sendbuf, int sendcount, MPI_Datatype sendtype,
	void *recvbuf, int recvcount, MPI_Datatype recvtype, MPI_Comm comm);
int PMPI_Allgather_c(const void *sendbuf, MPI_Count sendcount,
	MPI_Datatype sendtype, void *recvbuf, MPI_Count recvcount,
	MPI_Datatype recvtype, MPI_Comm comm);
int PMPI_Allgatherv(const void *sendbuf, int sendcount, MPI_Datatype sendtype,
	void *recvbuf, const int recvcounts[], const int displs[],
	MPI_Datatype recvtype, MPI_Comm comm);
int PMPI_Allgatherv_c(const void *sendbuf, MPI_Count sendcount,
	MPI_Datatype sendtype, void *recvbuf, const MPI_Count recvcounts[],
	const MPI_Aint displs[], MPI_Datatype recvtype, MPI_Comm comm);
int PMPI_Alltoall(const void *sendbuf, int sendcount, MPI_Datatype sendtype,
	void *recvbuf, int recvcount, MPI_Datatype recvtype, MPI_Comm comm);
int PMPI_Alltoall_c(const void *sendbuf, MPI_Count sendcount,
	MPI_Datatype sendtype, void *recvbuf, MPI_Count recvcount,
	MPI_Datatype recvtype, MPI_Comm comm);
int PMPI_Alltoallv(const void *sendbuf, const int sendcounts[],
	const int sdispls[], MPI_Datatype sendtype, void *recvbuf,
	const int recvcounts[], const int rdispls[], MPI_Datatype recvtype,
	MPI_Comm comm);
int PMPI_Alltoallv_c(const void *sendbuf, const MPI_Count sendcounts[],
	const MPI_Aint sdispls[], MPI_Datatype sendtype, void *recvbuf,
	const MPI_Count recvcounts[], const MPI_Aint rdispls[],
	MPI_Datatype recvtype, MPI_Comm comm);
int PMPI_Alltoallw(const void *sendbuf, const int sendcounts[],
	const int sdispls[], const MPI_Datatype sendtypes[], void *recvbuf,
	const int recvcounts[], const int rdispls[],
	const MPI_Datatype recvtypes[], MPI_Comm comm);
int PMPI_Alltoallw_c(const void *sendbuf, const MPI_Count sendcounts[],
	const MPI_Aint sdispls[], const MPI_Datatype sendtypes[],
	void *recvbuf, const MPI_Count recvcounts[], const MPI_Aint rdispls[],
	const MPI_Datatype recvtypes[], MPI_Comm comm);
int PMPI_Reduce(const void *sendbuf, void *recvbuf, int count,
	MPI_Datatype datatype, MPI_Op op, int root, MPI_Comm comm);
int PMPI_Reduce_c(const void *sendbuf, void *recvbuf, MPI_Count count,
	MPI_Datatype datatype, MPI_Op op, int root, MPI_Comm comm);
int PMPI_Allreduce(const void *sendbuf, void *recvbuf, int count,
	MPI_Datatype datatype, MPI_Op op, MPI_Comm comm);
int PMPI_Allreduce_c(const void *sendbuf, void *recvbuf, MPI_Count count,
	MPI_Datatype datatype, MPI_Op op, MPI_Comm comm);
int PMPI_Reduce_scatter(const void *sendbuf, void *recvbuf,
	const int recvcounts[], MPI_Datatype datatype, MPI_Op op,
	MPI_Comm comm);
int PMPI_Reduce_scatter_c(const void *sendbuf, void *recvbuf,
	const MPI_Count recvcounts[], MPI_Datatype datatype, MPI_Op op,
	MPI_Comm comm);
int PMPI_Reduce_scatter_block(const void *sendbuf, void *recvbuf,
	int recvcount, MPI_Datatype datatype, MPI_Op op, MPI_Comm comm);
int PMPI_Reduce_scatter_block_c(const void *sendbuf, void *recvbuf,
	MPI_Count recvcount, MPI_Datatype datatype, MPI_Op op, MPI_Comm comm);
int PMPI_Scan(const void *sendbuf, void *recvbuf, int count,
	MPI_Datatype datatype, MPI_Op op, MPI_Comm comm);
int PMPI_Scan_c(const void *sendbuf, void *recvbuf, MPI_Count count,
	MPI_Datatype datatype, MPI_Op op, MPI_Comm comm);
int PMPI_Exscan(const void *sendbuf, void *recvbuf, int count,
	MPI_Datatype datatype, MPI_Op op, MPI_Comm comm);
int PMPI_Exscan_c(const void *sendbuf, void *recvbuf, MPI_Count count,
	MPI_Datatype datatype, MPI_Op op, MPI_Comm comm);

#ifdef __cplusplus
}
#endif

#endif
