"""A PostgreSQL server for tests, started from what the machine has installed."""

import os
import pwd
import shutil
import subprocess
import tempfile
import uuid
from pathlib import Path

import pytest


class PostgresServer:
    """Listens on a socket in a folder of its own, and on no port."""

    def __enter__(self):
        self._bin = _programs()
        self._user = _user()
        self._folder = Path(tempfile.mkdtemp(prefix="pg-"))
        if self._user:
            shutil.chown(self._folder, self._user)
        self._run("initdb", "-D", self._data, "-U", "tests", "-A", "trust", "-E", "UTF8", "-N")
        options = f"-c listen_addresses='' -c unix_socket_directories={self._folder} -c fsync=off"
        log = self._folder / "log"
        self._run("pg_ctl", "-D", self._data, "-l", log, "-w", "-o", options, "start")
        return self

    def __exit__(self, *_):
        self._run("pg_ctl", "-D", self._data, "-m", "immediate", "stop")
        shutil.rmtree(self._folder)

    @property
    def _data(self):
        return self._folder / "data"

    def new_schema(self):
        """Return the URL of an empty schema: quicker than a database for each test."""
        name = f"store_{uuid.uuid4().hex}"
        command = f"CREATE SCHEMA {name}"
        self._run("psql", "-h", self._folder, "-U", "tests", "-d", "postgres", "-c", command)
        return f"postgresql://tests@/postgres?host={self._folder}&options=-csearch_path%3D{name}"

    def _run(self, program, *arguments):
        subprocess.run(
            [self._bin / program, *arguments],
            check=True,
            user=self._user,
            cwd=self._folder,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )


def _programs():
    found = [
        Path(shutil.which("initdb") or "/nowhere"),
        *Path("/usr/lib/postgresql").glob("*/bin/initdb"),
    ]
    programs = [program.parent for program in found if program.exists()]
    if not programs:
        pytest.skip("PostgreSQL is not installed (apt-get install postgresql)")
    return programs[-1]


def _user():
    if os.geteuid() != 0:
        return None
    try:
        return pwd.getpwnam("postgres").pw_name  # the server refuses to run as root
    except KeyError:
        pytest.skip("PostgreSQL does not run as root, and there is no user postgres")
