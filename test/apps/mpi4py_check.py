# SPDX-License-Identifier: BSD-3-Clause
"""mpi4py on our libucp: pickled objects, buffers, probes, collectives.

mpirun -np N python3 mpi4py_check.py; reports as the C programs do.
"""
import array
import sys
import threading
import traceback

from mpi4py import MPI

COMM = MPI.COMM_WORLD
RANK, SIZE = COMM.Get_rank(), COMM.Get_size()
RIGHT, LEFT = (RANK + 1) % SIZE, (RANK - 1) % SIZE
LENGTHS = [0, 1, 100, 8192, 8193, 65536, 1 << 20, 5 << 20]


def pattern(source, length):
    """Bytes that tell who sent them and how many."""
    unit = bytes((source * 7 + length + i) % 251 for i in range(251))
    return bytearray((unit * (length // 251 + 1))[:length])


def sample(source):
    """An object of many types."""
    return {"rank": source, "list": list(range(source, source + 50)),
            "text": "ä" * source, "nested": ({1, 2, source}, None, 1.5j),
            "bytes": bytes(pattern(source, 30000))}


def objects():
    request = COMM.isend(sample(RANK), dest=RIGHT, tag=1)
    assert COMM.recv(source=LEFT, tag=1) == sample(LEFT)
    request.wait()
    got = COMM.sendrecv(sample(RANK), dest=RIGHT, source=LEFT)
    assert got == sample(LEFT)
    large = [RANK] * 300000
    request = COMM.irecv(bytearray(4 << 20), source=LEFT, tag=2)
    other = COMM.isend(large, dest=RIGHT, tag=2)
    assert request.wait() == [LEFT] * 300000
    other.wait()


def buffers():
    for length in LENGTHS:
        data, room = pattern(RANK, length), bytearray(length)
        request = COMM.Isend([data, MPI.BYTE], dest=RIGHT, tag=3)
        status = MPI.Status()
        COMM.Recv([room, MPI.BYTE], source=MPI.ANY_SOURCE, tag=MPI.ANY_TAG,
                  status=status)
        request.Wait()
        assert status.Get_count(MPI.BYTE) == length
        assert (status.Get_source(), status.Get_tag()) == (LEFT, 3)
        assert room == pattern(LEFT, length)


def send_modes():
    for length in LENGTHS:
        room = bytearray(length)
        receive = COMM.Irecv([room, MPI.BYTE], source=LEFT, tag=4)
        COMM.Barrier()
        data = pattern(RANK, length)
        for send in (COMM.Isend, COMM.Issend, COMM.Irsend):
            request = send([data, MPI.BYTE], dest=RIGHT, tag=4)
            receive.Wait()
            request.Wait()
            assert room == pattern(LEFT, length), send
            room[:] = bytes(length)
            if send != COMM.Irsend:
                receive = COMM.Irecv([room, MPI.BYTE], source=LEFT, tag=4)
                COMM.Barrier()


def probes():
    for length in LENGTHS:
        data = pattern(RANK, length)
        request = COMM.Isend([data, MPI.BYTE], dest=RIGHT, tag=5)
        status = MPI.Status()
        COMM.Probe(source=LEFT, tag=5, status=status)
        assert status.Get_count(MPI.BYTE) == length
        message = COMM.Mprobe(source=MPI.ANY_SOURCE, tag=5, status=status)
        room = bytearray(status.Get_count(MPI.BYTE))
        message.Recv([room, MPI.BYTE])
        assert room == pattern(LEFT, length)
        request.Wait()
    request = COMM.isend(sample(RANK), dest=RIGHT, tag=6)
    message = None
    while message is None:
        message = COMM.improbe(source=LEFT, tag=6)
    assert message.recv() == sample(LEFT)
    request.wait()


def persistent():
    data, room = bytearray(20000), bytearray(20000)
    send = COMM.Send_init([data, MPI.BYTE], dest=RIGHT, tag=7)
    receive = COMM.Recv_init([room, MPI.BYTE], source=LEFT, tag=7)
    for turn in range(10):
        data[:] = pattern(RANK + turn, 20000)
        MPI.Prequest.Startall([receive, send])
        MPI.Request.Waitall([receive, send])
        assert room == pattern(LEFT + turn, 20000)
    send.Free()
    receive.Free()


def object_collectives():
    assert COMM.bcast(sample(0) if RANK == 0 else None) == sample(0)
    got = COMM.gather(sample(RANK), root=SIZE - 1)
    assert got == ([sample(i) for i in range(SIZE)] if RANK == SIZE - 1
                   else None)
    assert COMM.scatter([sample(i) for i in range(SIZE)] if RANK == 0
                        else None) == sample(RANK)
    assert COMM.allgather(RANK * 2) == [i * 2 for i in range(SIZE)]
    assert COMM.alltoall([(RANK, i) for i in range(SIZE)]) == [
        (i, RANK) for i in range(SIZE)]
    assert COMM.allreduce([RANK], op=MPI.SUM) == list(range(SIZE))
    assert COMM.scan(RANK + 1) == (RANK + 1) * (RANK + 2) // 2


def buffer_collectives():
    for count in (0, 1, 1000, 8192, 500000):
        data = array.array("q", range(RANK, RANK + count))
        total = array.array("q", bytes(8 * count))
        COMM.Allreduce([data, MPI.INT64_T], [total, MPI.INT64_T], op=MPI.SUM)
        shift = SIZE * (SIZE - 1) // 2
        assert list(total) == [SIZE * i + shift for i in range(count)]
        COMM.Ibcast([data, MPI.INT64_T], root=0).Wait()
        assert data == array.array("q", range(count))
    whole = bytearray(1000 * SIZE)
    COMM.Allgather([pattern(RANK, 1000), MPI.BYTE], [whole, MPI.BYTE])
    for i in range(SIZE):
        assert whole[1000 * i:1000 * (i + 1)] == pattern(i, 1000)


def communicators():
    half = COMM.Split(RANK % 2, -RANK)
    assert half.allreduce(1) == (SIZE + 1 - RANK % 2) // 2
    twin = half.Dup()
    twin.Barrier()
    twin.Free()
    half.Free()


def errors():
    """A message too long for its receive raises, and the next one comes."""
    comm = COMM.Dup()
    comm.Set_errhandler(MPI.ERRORS_RETURN)
    for length in (1000, 200000):
        first = comm.Isend([pattern(RANK, length), MPI.BYTE], dest=RIGHT)
        try:
            comm.Recv([bytearray(length // 2), MPI.BYTE], source=LEFT)
            raise AssertionError("a truncated receive has not failed")
        except MPI.Exception as error:
            assert error.Get_error_class() == MPI.ERR_TRUNCATE
        first.Wait()
        assert comm.sendrecv(RANK, dest=RIGHT, source=LEFT) == LEFT
    comm.Free()


def threads():
    """mpi4py asks for MPI_THREAD_MULTIPLE by itself."""
    assert MPI.Query_thread() == MPI.THREAD_MULTIPLE
    wrong = []

    def work(tag):
        for turn in range(30):
            request = COMM.isend((RANK, tag, turn), dest=RIGHT, tag=tag)
            if COMM.recv(source=LEFT, tag=tag) != (LEFT, tag, turn):
                wrong.append(tag)
            request.wait()

    workers = [threading.Thread(target=work, args=(100 + i,))
               for i in range(4)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert not wrong, wrong


def main():
    cases = [objects, buffers, send_modes, probes, persistent,
             object_collectives, buffer_collectives, communicators, errors,
             threads]
    failed = 0
    for case in cases:
        reason = ""
        try:
            case()
        except Exception as error:  # the other ranks may wait: end the run
            traceback.print_exc()
            reason = f"rank {RANK}: {type(error).__name__} {error}"
            print(f"not ok mpi4py__{case.__name__} - {reason}", flush=True)
            COMM.Abort(1)
        reasons = [text for text in COMM.allgather(reason) if text]
        failed += bool(reasons)
        if RANK == 0:
            print(f"ok mpi4py__{case.__name__}", flush=True)
    if RANK == 0:
        print(f"end {len(cases)}", flush=True)
    return failed != 0


if __name__ == "__main__":
    sys.exit(main())
