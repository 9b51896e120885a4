"""Runs ``surrogate-arena metaeval`` as a user does."""

import json

import pytest
import typer
from typer.testing import CliRunner

from surrogate_arena.papers.commands import metaeval

APP = typer.Typer(add_completion=False, pretty_exceptions_enable=False)
APP.command()(metaeval)


def run(*arguments):
    done = CliRunner().invoke(APP, [str(argument) for argument in arguments])
    if done.exception is not None and not isinstance(done.exception, SystemExit):
        raise done.exception
    return done


def run_json(*arguments):
    return json.loads(run(*arguments, "--json").stdout, parse_constant=pytest.fail)
