"""A PostgreSQL server of Debian's package, on loopback, with data in a temporary folder; for tests and benchmarks."""

import os
import pwd
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from contextlib import contextmanager
from pathlib import Path

USER, PASSWORD = "keeper", "s3cret:w@rd"
QUOTED = "s3cret%3Aw%40rd"


def programs():
    """Return the folder of the newest server that is installed; None where there is none."""
    programs_by_version = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"), key=lambda path: int(path.parts[-3]))
    return programs_by_version[-1].parent if programs_by_version else None


def _other_user():
    """Return how a process runs as another user: the server refuses to run as root."""
    if os.geteuid() != 0:
        return None, {}
    names = {entry.pw_name: entry for entry in pwd.getpwall()}
    entry = names.get("postgres") or names["nobody"]
    return entry.pw_uid, {"user": entry.pw_uid, "group": entry.pw_gid, "extra_groups": []}


class Server:
    """A server that runs."""

    def __init__(self, folder, process, port):
        self.folder, self.process, self.port = Path(folder), process, port

    @property
    def url(self):
        return f"postgresql://{USER}:{QUOTED}@127.0.0.1:{self.port}/postgres"

    def connect(self):
        import adbc_driver_postgresql.dbapi

        return adbc_driver_postgresql.dbapi.connect(self.url)

    def execute(self, *statements):
        with self.connect() as connection, connection.cursor() as cursor:
            for statement in statements:
                cursor.execute(statement)
            connection.commit()

    def backends(self):
        """Return the processes that answer clients."""
        command = ["ps", "-o", "pid=,args=", "--ppid", str(self.process.pid)]
        lines = subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()
        return [int(line.split()[0]) for line in lines if USER in line]


@contextmanager
def running(bin_folder=None):
    """Make a database, start a server, and stop it at the end."""
    bin_folder = bin_folder or programs()
    folder = tempfile.mkdtemp(prefix="pg-")
    uid, as_user = _other_user()
    word = Path(folder) / "word"
    word.write_text(PASSWORD)
    if uid is not None:
        os.chown(folder, uid, -1)
        os.chown(word, uid, -1)
    data, quiet = f"{folder}/data", {"stdout": subprocess.DEVNULL, "stderr": subprocess.PIPE, "cwd": folder, **as_user}
    made = [f"{bin_folder}/initdb", "-D", data, "-U", USER, "-A", "scram-sha-256", f"--pwfile={word}", "--no-sync"]
    process = None
    try:
        subprocess.run([*made, "--locale=C", "--encoding=UTF8"], check=True, timeout=200, **quiet)
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        start = [f"{bin_folder}/postgres", "-D", data, "-p", str(port), "-k", folder, "-h", "127.0.0.1", "-F"]
        process = subprocess.Popen(start, stdin=subprocess.DEVNULL, **quiet | {"stderr": subprocess.DEVNULL})
        server = Server(folder, process, port)
        _wait(server)
        yield server
    finally:
        if process is not None and process.poll() is None:
            process.send_signal(signal.SIGQUIT)  # at once: nobody needs the data again
            process.wait(60)
        shutil.rmtree(folder, ignore_errors=True)


def _wait(server):
    until = time.monotonic() + 100
    while True:
        try:
            server.connect().close()
        except Exception:
            if server.process.poll() is not None or time.monotonic() > until:
                raise
            time.sleep(0.05)
        else:
            return
