"""Runs ``surrogate-arena metaeval`` as a user does."""

import json

import pytest
from typer.testing import CliRunner

from surrogate.cli.studies.metaeval import metaeval


def run(*arguments):
    done = CliRunner().invoke(metaeval, [str(argument) for argument in arguments])
    if done.exception is not None and not isinstance(done.exception, SystemExit):
        raise done.exception
    return done


def run_json(*arguments):
    return json.loads(run(*arguments, "--json").stdout, parse_constant=pytest.fail)
