"""Starts one command and writes what it took to a file: ``launcher.py FILE SECONDS COMMAND …``.

A process of its own, because the peak of memory that the system reports for a child begins at
the size of the process that started it. This one imports next to nothing.
"""

import os
import sys
import time


def main(report: str, patience: str, *command: str) -> None:
    started = time.perf_counter()
    child = os.posix_spawnp(command[0], command, os.environ)
    killer = os.fork()
    if killer == 0:
        time.sleep(float(patience))
        os.kill(child, 9)
        os._exit(0)
    _, status, usage = os.wait4(child, 0)
    seconds = time.perf_counter() - started
    os.kill(killer, 9)
    os.waitpid(killer, 0)
    cpu = usage.ru_utime + usage.ru_stime
    line = f"{seconds} {cpu} {usage.ru_maxrss} {os.waitstatus_to_exitcode(status)}"
    file = os.open(report, os.O_WRONLY | os.O_CREAT)
    os.write(file, line.encode())
    os.close(file)


if __name__ == "__main__":
    main(*sys.argv[1:])
