# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
"""A launcher that speaks PMI-2: pmi2_server.py HOW RANKS PROGRAM ARGUMENTS.

HOW is "well", or what it does wrong. Exits with the code of an abort, or with
the largest exit code of its ranks.
"""
import os
import re
import selectors
import socket
import subprocess
import sys

how, size = sys.argv[1], int(sys.argv[2])
board = {}
waiting = []
abort_code = None


class Rank:
    def __init__(self, number):
        self.number = number
        self.sock, theirs = socket.socketpair()
        env = dict(os.environ, PMI_FD=str(theirs.fileno()),
                   PMI_RANK=str(number), PMI_SIZE=str(size), PMI_JOBID="job.1")
        for name in ("O2G_LAUNCHER", "PMI_PORT", "MPI_LOCALNRANKS"):
            env.pop(name, None)
        if how == "unnamed":    # as Hydra does: PMI-2 must be asked for
            env["O2G_LAUNCHER"] = "pmi2"
            del env["PMI_JOBID"]
        self.process = subprocess.Popen(sys.argv[3:], env=env,
                                        pass_fds=[theirs.fileno()])
        theirs.close()
        self.data = b""
        self.hello = False

    def send(self, data):
        pieces = [data]
        if how == "bytes":
            pieces = [data[i:i + 1] for i in range(len(data))]
        for piece in pieces:
            self.sock.sendall(piece)

    def answer(self, text):
        data = text.encode("latin-1")
        count = b"%6d" % len(data)
        if how == "wrong-count":
            count = b"  none"
        if how == "long-count":
            count = b"999999"
        self.send(count + data)

    def next(self):
        """The next question, or None."""
        if not self.hello:
            line, newline, rest = self.data.partition(b"\n")
            if not newline:
                return None
            self.data = rest
            return line.decode()
        if len(self.data) < 6:
            return None
        count = int(self.data[:6])
        if len(self.data) < 6 + count:
            return None
        text = self.data[6:6 + count].decode("latin-1")
        self.data = self.data[6 + count:]
        return text


def greet(rank, line):
    assert line == "cmd=init pmi_version=2 pmi_subversion=0", line
    rank.hello = True
    version, rc = (1, -1) if how == "refuse-version" else (2, 0)
    rank.send(b"cmd=response_to_init pmi_version=%d pmi_subversion=0 rc=%d\n"
              % (version, rc))


def fullinit(rank, ask):
    assert ask.get("pmijobid") == (None if how == "unnamed" else "job.1")
    assert ask["pmirank"] == str(rank.number)
    if how == "refuse-init":
        return "rc=-1;errmsg=who are you;"
    return "pmi-version=2;pmi-subversion=0;rank=%d;size=%d;appnum=5;" \
        "debugged=FALSE;rc=0;" % (rank.number, 0 if how == "wrong-place" else size)


def getjobattr(rank, ask):
    values = {"universeSize": "17",
              "PMI_process_mapping": "(vector,(0,1,%d))" % size}
    if ask["key"] in values:
        return "found=TRUE;value=%s;rc=0;" % values[ask["key"]]
    return "found=FALSE;rc=0;"


def put(rank, ask):
    assert len(ask["key"]) < 64 and len(ask["value"]) < 1024
    assert ask["key"] not in board, ask["key"] + " is put twice"
    board[ask["key"]] = ask["value"]
    return "rc=-1;errmsg=full;" if how == "refuse-put" else "rc=0;"


def get(rank, ask):
    assert ask["jobid"] == "job.1"
    if ask["key"] in board:
        return "found=TRUE;value=%s;rc=0;" % board[ask["key"]]
    return "found=FALSE;rc=0;"


def fence(rank, ask):
    waiting.append(rank)
    if len(waiting) == size:
        if how == "die-in-fence":
            for r in ranks:
                r.sock.close()
            return None
        while waiting:
            waiting.pop().answer("cmd=kvs-fence-response;rc=0;")
    return None


def abort(rank, ask):
    global abort_code
    abort_code = int(re.search(r"exit code (\d+)", ask["msg"]).group(1))
    for r in ranks:
        r.process.kill()


def getid(rank, ask):
    if how == "wrong-answer":
        rank.answer("cmd=something-else;rc=0;")
        return None
    return "jobid=job.1;rc=0;"


commands = {"fullinit": fullinit, "job-getid": getid,
            "info-getjobattr": getjobattr, "kvs-put": put, "kvs-get": get,
            "kvs-fence": fence, "finalize": lambda rank, ask: "rc=0;",
            "abort": abort}


def parse(text):
    """The fields of a question. As strict as MPICH 4.2, which ends the job when
    a field has no value."""
    ask = dict(word.split("=", 1) for word in text[:-1].split(";"))
    assert all(ask.values()), "a field without value: " + text
    return ask


def serve(rank):
    data = rank.sock.recv(65536)
    rank.data += data
    while rank.sock.fileno() >= 0 and (text := rank.next()) is not None:
        if not text.startswith("cmd=") or " pmi_version" in text:
            greet(rank, text)
            continue
        assert text.endswith(";"), text
        ask = parse(text)
        words = commands[ask["cmd"]](rank, ask)
        if words is not None:
            rank.answer("cmd=%s-response;%s" % (ask["cmd"], words))
    return bool(data)


ranks = [Rank(i) for i in range(size)]
selector = selectors.DefaultSelector()
for r in ranks:
    selector.register(r.sock, selectors.EVENT_READ, r)
while selector.get_map() and abort_code is None:
    for key, _ in selector.select():
        if key.fileobj.fileno() < 0 or not serve(key.data):
            selector.unregister(key.fileobj)
    for key in list(selector.get_map().values()):
        if key.fileobj.fileno() < 0:
            selector.unregister(key.fileobj)
codes = [r.process.wait() for r in ranks]
sys.exit(max(codes) if abort_code is None else abort_code)
