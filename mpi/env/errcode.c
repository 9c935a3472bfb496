/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * Error classes and codes: the standard's, those of ranks that were lost, and
 * those a program adds.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "env/errcode.h"
#include "env/errors.h"

#define CLASS(name, words)         \
	{                          \
		name, #name, words \
	}

static const struct {
	int class;
	const char *name, *words;
} classes[] = {
	CLASS(MPI_SUCCESS, "no error"),
	CLASS(MPI_ERR_BUFFER, "invalid buffer"),
	CLASS(MPI_ERR_COUNT, "invalid count"),
	CLASS(MPI_ERR_TYPE, "invalid datatype"),
	CLASS(MPI_ERR_TAG, "invalid tag"),
	CLASS(MPI_ERR_COMM, "invalid communicator"),
	CLASS(MPI_ERR_RANK, "invalid rank"),
	CLASS(MPI_ERR_REQUEST, "invalid request"),
	CLASS(MPI_ERR_ROOT, "invalid root"),
	CLASS(MPI_ERR_GROUP, "invalid group"),
	CLASS(MPI_ERR_OP, "invalid operation"),
	CLASS(MPI_ERR_TOPOLOGY, "invalid topology"),
	CLASS(MPI_ERR_DIMS, "invalid dimensions"),
	CLASS(MPI_ERR_ARG, "invalid argument"),
	CLASS(MPI_ERR_UNKNOWN, "unknown error"),
	CLASS(MPI_ERR_TRUNCATE, "message longer than the receive buffer"),
	CLASS(MPI_ERR_OTHER, "other error"),
	CLASS(MPI_ERR_INTERN, "internal error"),
	CLASS(MPI_ERR_PENDING, "request is still pending"),
	CLASS(MPI_ERR_IN_STATUS, "the error code is in the status"),
	CLASS(MPI_ERR_ACCESS, "permission denied"),
	CLASS(MPI_ERR_AMODE, "invalid access mode"),
	CLASS(MPI_ERR_ASSERT, "invalid assertion"),
	CLASS(MPI_ERR_BAD_FILE, "invalid file name"),
	CLASS(MPI_ERR_BASE, "invalid base"),
	CLASS(MPI_ERR_CONVERSION, "data conversion failed"),
	CLASS(MPI_ERR_DISP, "invalid displacement"),
	CLASS(MPI_ERR_DUP_DATAREP, "data representation is already defined"),
	CLASS(MPI_ERR_FILE_EXISTS, "file exists"),
	CLASS(MPI_ERR_FILE_IN_USE, "file is in use"),
	CLASS(MPI_ERR_FILE, "invalid file handle"),
	CLASS(MPI_ERR_INFO_KEY, "invalid info key"),
	CLASS(MPI_ERR_INFO_NOKEY, "no such info key"),
	CLASS(MPI_ERR_INFO_VALUE, "invalid info value"),
	CLASS(MPI_ERR_INFO, "invalid info"),
	CLASS(MPI_ERR_IO, "input or output failed"),
	CLASS(MPI_ERR_KEYVAL, "invalid attribute key"),
	CLASS(MPI_ERR_LOCKTYPE, "invalid lock type"),
	CLASS(MPI_ERR_NAME, "no such service name"),
	CLASS(MPI_ERR_NO_MEM, "out of memory"),
	CLASS(MPI_ERR_NOT_SAME, "arguments differ between ranks"),
	CLASS(MPI_ERR_NO_SPACE, "no space left"),
	CLASS(MPI_ERR_NO_SUCH_FILE, "no such file"),
	CLASS(MPI_ERR_PORT, "invalid port"),
	CLASS(MPI_ERR_QUOTA, "quota exceeded"),
	CLASS(MPI_ERR_READ_ONLY, "read-only file or file system"),
	CLASS(MPI_ERR_RMA_ATTACH, "memory cannot be attached"),
	CLASS(MPI_ERR_RMA_CONFLICT, "conflicting accesses to a window"),
	CLASS(MPI_ERR_RMA_RANGE, "target memory is outside the window"),
	CLASS(MPI_ERR_RMA_SHARED, "memory cannot be shared"),
	CLASS(MPI_ERR_RMA_SYNC, "wrong synchronization of a window"),
	CLASS(MPI_ERR_SERVICE, "invalid service name"),
	CLASS(MPI_ERR_SIZE, "invalid size"),
	CLASS(MPI_ERR_SPAWN, "could not start processes"),
	CLASS(MPI_ERR_UNSUPPORTED_DATAREP, "unsupported data representation"),
	CLASS(MPI_ERR_UNSUPPORTED_OPERATION, "unsupported operation"),
	CLASS(MPI_ERR_WIN, "invalid window"),
	CLASS(MPI_ERR_RMA_FLAVOR, "window has the wrong flavor"),
	CLASS(MPI_ERR_PROC_ABORTED, "a process of the job has ended"),
	CLASS(MPI_ERR_VALUE_TOO_LARGE, "value does not fit"),
	CLASS(MPI_ERR_SESSION, "invalid session"),
	CLASS(MPI_ERR_ERRHANDLER, "invalid error handler"),
	CLASS(MPI_ERR_ABI, "wrong use of the ABI"),
	CLASS(MPI_T_ERR_CANNOT_INIT, "tool interface cannot be initialized"),
	CLASS(MPI_T_ERR_NOT_ACCESSIBLE, "tool interface is not accessible"),
	CLASS(MPI_T_ERR_NOT_INITIALIZED, "tool interface is not initialized"),
	CLASS(MPI_T_ERR_NOT_SUPPORTED, "not supported"),
	CLASS(MPI_T_ERR_MEMORY, "out of memory"),
	CLASS(MPI_T_ERR_INVALID, "invalid use of the tool interface"),
	CLASS(MPI_T_ERR_INVALID_INDEX, "invalid index"),
	CLASS(MPI_T_ERR_INVALID_ITEM, "invalid item"),
	CLASS(MPI_T_ERR_INVALID_SESSION, "invalid tool session"),
	CLASS(MPI_T_ERR_INVALID_HANDLE, "invalid tool handle"),
	CLASS(MPI_T_ERR_INVALID_NAME, "invalid name"),
	CLASS(MPI_T_ERR_OUT_OF_HANDLES, "out of handles"),
	CLASS(MPI_T_ERR_OUT_OF_SESSIONS, "out of sessions"),
	CLASS(MPI_T_ERR_CVAR_SET_NOT_NOW, "variable cannot be set now"),
	CLASS(MPI_T_ERR_CVAR_SET_NEVER, "variable cannot be set"),
	CLASS(MPI_T_ERR_PVAR_NO_WRITE, "variable cannot be written"),
	CLASS(MPI_T_ERR_PVAR_NO_STARTSTOP, "variable cannot be stopped"),
	CLASS(MPI_T_ERR_PVAR_NO_ATOMIC, "variable cannot be read atomically"),
};

/* Codes of the program: 0 is MPI_ERR_LASTCODE + 1. Removed ones leave a gap. */
struct added {
	bool used;
	int class; /* == its own code for a class */
	int users; /* codes of this class */
	char text[MPI_MAX_ERROR_STRING];
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct added *added;
static int nadded;

#define FIRST_ADDED (MPI_ERR_LASTCODE + 1)

static struct added *find(int code)
{
	int i = code - FIRST_ADDED;

	return i >= 0 && i < nadded && added[i].used ? &added[i] : NULL;
}

/*
 * Codes of MPI_ERR_PROC_ABORTED, one for each peer that was lost, in the order of
 * their first use. The standard leaves us those up to MPI_ERR_LASTCODE; the ABI's
 * classes end far below. Whoever comes after those shares the class.
 */
#define FIRST_LOST 2048
#define MAX_LOST (MPI_ERR_LASTCODE + 1 - FIRST_LOST)

static struct lost {
	int peer;
	char *words; /* they stay for good */
} * lost;
static int nlost;

/* With the lock held; NULL: there is none. */
static struct lost *lost_peer(int peer)
{
	for (int i = 0; i < nlost; i++)
		if (lost[i].peer == peer)
			return &lost[i];
	return NULL;
}

static struct lost *lost_more(int peer, const char *words)
{
	struct lost *more = nlost < MAX_LOST ?
				    realloc(lost, (nlost + 1) * sizeof(*more)) :
				    NULL;
	char *copy = more ? strdup(words) : NULL;

	if (more)
		lost = more;
	if (!copy)
		return NULL;
	lost[nlost] = (struct lost){ peer, copy };
	return &lost[nlost++];
}

int mpii_lost_code(int peer, const char *words)
{
	int code = MPI_ERR_PROC_ABORTED;
	struct lost *l;

	pthread_mutex_lock(&lock);
	l = lost_peer(peer);
	if (!l)
		l = lost_more(peer, words);
	if (l)
		code = FIRST_LOST + (int)(l - lost);
	pthread_mutex_unlock(&lock);
	return code;
}

/* Of the peer that the code names. */
static struct lost lost_of(int code)
{
	struct lost l = { -1, NULL };

	if (code < FIRST_LOST || code >= FIRST_ADDED)
		return l;
	pthread_mutex_lock(&lock);
	if (code - FIRST_LOST < nlost)
		l = lost[code - FIRST_LOST];
	pthread_mutex_unlock(&lock);
	return l;
}

int mpii_lost_peer(int code)
{
	return lost_of(code).peer;
}

const char *mpii_lost_text(int code)
{
	return lost_of(code).words;
}

static int predefined(int class)
{
	for (size_t i = 0; i < sizeof(classes) / sizeof(classes[0]); i++)
		if (classes[i].class == class)
			return (int)i;
	return -1;
}

const char *mpii_class_text(int class)
{
	int i = predefined(class);

	return i < 0 ? NULL : classes[i].words;
}

const char *mpii_class_name(int class)
{
	int i = predefined(class);

	return i < 0 ? "an error class of the program" : classes[i].name;
}

/* 0 when there is no such code; MPI_SUCCESS is its own class. */
static bool code_exists(int code)
{
	bool yes;

	if (code < FIRST_ADDED)
		return predefined(code) >= 0 || mpii_lost_text(code);
	pthread_mutex_lock(&lock);
	yes = find(code);
	pthread_mutex_unlock(&lock);
	return yes;
}

int mpii_class_of_code(int code)
{
	struct added *a;
	int class = code;

	if (code < FIRST_ADDED)
		return mpii_lost_text(code) ? MPI_ERR_PROC_ABORTED : code;
	pthread_mutex_lock(&lock);
	a = find(code);
	if (a)
		class = a->class;
	pthread_mutex_unlock(&lock);
	return class;
}

int mpii_last_used_code(void)
{
	int code;

	pthread_mutex_lock(&lock);
	code = MPI_ERR_LASTCODE + nadded;
	pthread_mutex_unlock(&lock);
	return code;
}

/* A new code of @class, or a new class when that is 0. 0: out of memory. */
static int add(int class)
{
	struct added *a;
	int code = 0;

	pthread_mutex_lock(&lock);
	a = realloc(added, (nadded + 1) * sizeof(*a));
	if (a) {
		added = a;
		code = FIRST_ADDED + nadded;
		a = &added[nadded++];
		*a = (struct added){ .used = true,
				     .class = class ? class : code };
		if (class && find(class))
			find(class)->users++;
	}
	pthread_mutex_unlock(&lock);
	return code;
}

int PMPI_Add_error_class(int *errorclass)
{
	int code;

	if (!errorclass)
		return mpii_bad_null(NULL, "MPI_Add_error_class", "errorclass");
	code = add(0);
	if (!code)
		return mpii_no_mem(NULL, "MPI_Add_error_class");
	*errorclass = code;
	return MPI_SUCCESS;
}
MPII_ALIAS(Add_error_class);

int PMPI_Add_error_code(int errorclass, int *errorcode)
{
	int code;

	if (!errorcode)
		return mpii_bad_null(NULL, "MPI_Add_error_code", "errorcode");
	if (!code_exists(errorclass) ||
	    mpii_class_of_code(errorclass) != errorclass)
		return mpii_error(
			NULL, MPI_ERR_ARG, "MPI_Add_error_code",
			"errorclass is %d, which is not an error class",
			errorclass);
	code = add(errorclass);
	if (!code)
		return mpii_no_mem(NULL, "MPI_Add_error_code");
	*errorcode = code;
	return MPI_SUCCESS;
}
MPII_ALIAS(Add_error_code);

static int not_added(const char *func, const char *arg, int code)
{
	return mpii_error(NULL, MPI_ERR_ARG, func,
			  "%s is %d, which the program has not added", arg,
			  code);
}

int PMPI_Add_error_string(int errorcode, const char *string)
{
	struct added *a;

	if (!string)
		return mpii_bad_null(NULL, "MPI_Add_error_string", "string");
	if (strlen(string) >= MPI_MAX_ERROR_STRING)
		return mpii_error(NULL, MPI_ERR_ARG, "MPI_Add_error_string",
				  "string has %zu characters, at most %d fit",
				  strlen(string), MPI_MAX_ERROR_STRING - 1);
	pthread_mutex_lock(&lock);
	a = find(errorcode);
	if (a)
		snprintf(a->text, sizeof(a->text), "%s", string);
	pthread_mutex_unlock(&lock);
	return a ? MPI_SUCCESS :
		   not_added("MPI_Add_error_string", "errorcode", errorcode);
}
MPII_ALIAS(Add_error_string);

/* What may go: 0 it went, else why not. */
static const char *drop(int code, bool class)
{
	const char *why = NULL;
	struct added *a;

	pthread_mutex_lock(&lock);
	a = find(code);
	if (!a || (a->class == code) != class)
		why = class ? "is not an error class that the program has added" :
			      "is not an error code that the program has added";
	else if (class && a->users)
		why = "still has error codes";
	else if (a->text[0])
		why = "still has an error string";
	if (!why) {
		a->used = false;
		if (!class && find(a->class))
			find(a->class)->users--;
	}
	pthread_mutex_unlock(&lock);
	return why;
}

int PMPI_Remove_error_class(int errorclass)
{
	const char *why = drop(errorclass, true);

	if (why)
		return mpii_error(NULL, MPI_ERR_ARG, "MPI_Remove_error_class",
				  "errorclass %d %s", errorclass, why);
	return MPI_SUCCESS;
}
MPII_ALIAS(Remove_error_class);

int PMPI_Remove_error_code(int errorcode)
{
	const char *why = drop(errorcode, false);

	if (why)
		return mpii_error(NULL, MPI_ERR_ARG, "MPI_Remove_error_code",
				  "errorcode %d %s", errorcode, why);
	return MPI_SUCCESS;
}
MPII_ALIAS(Remove_error_code);

int PMPI_Remove_error_string(int errorcode)
{
	struct added *a;

	pthread_mutex_lock(&lock);
	a = find(errorcode);
	if (a && a->text[0])
		a->text[0] = '\0';
	else
		a = NULL;
	pthread_mutex_unlock(&lock);
	return a ? MPI_SUCCESS :
		   not_added("MPI_Remove_error_string", "errorcode", errorcode);
}
MPII_ALIAS(Remove_error_string);

int PMPI_Error_class(int errorcode, int *errorclass)
{
	if (!errorclass)
		return mpii_bad_null(NULL, "MPI_Error_class", "errorclass");
	if (!code_exists(errorcode))
		return mpii_error(NULL, MPI_ERR_ARG, "MPI_Error_class",
				  "errorcode is %d, which is not an error code",
				  errorcode);
	*errorclass = mpii_class_of_code(errorcode);
	return MPI_SUCCESS;
}
MPII_ALIAS(Error_class);

static void words_for(int code, char *string)
{
	const char *words = mpii_last_text(code);
	int class = mpii_class_of_code(code);
	struct added *a;

	if (code >= FIRST_ADDED) {
		pthread_mutex_lock(&lock);
		a = find(code);
		snprintf(string, MPI_MAX_ERROR_STRING, "%s", a ? a->text : "");
		pthread_mutex_unlock(&lock);
		return;
	}
	if (!words)
		words = mpii_class_text(class);
	snprintf(string, MPI_MAX_ERROR_STRING, "%s: %s", mpii_class_name(class),
		 words);
}

int PMPI_Error_string(int errorcode, char *string, int *resultlen)
{
	if (!string || !resultlen)
		return mpii_bad_null(NULL, "MPI_Error_string",
				     string ? "resultlen" : "string");
	if (!code_exists(errorcode))
		return mpii_error(NULL, MPI_ERR_ARG, "MPI_Error_string",
				  "errorcode is %d, which is not an error code",
				  errorcode);
	words_for(errorcode, string);
	*resultlen = (int)strlen(string);
	return MPI_SUCCESS;
}
MPII_ALIAS(Error_string);
