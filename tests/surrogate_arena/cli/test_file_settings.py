"""What a file of settings, which a stranger may have written, may name."""

import pytest

from arena.data.errors import UsageError
from arena.judging.judging_settings import JudgingSettings
from surrogate_arena.cli.setting_options import settings_of

SERVER = "http://localhost:8000/v1"


@pytest.fixture
def read(tmp_path):
    """Read settings of a file, with options and further values of ``--config``."""
    folder = tmp_path / "theirs"
    folder.mkdir()

    def read(text, *config, **options):
        (folder / "judge.toml").write_text(text, encoding="utf-8")
        return settings_of(JudgingSettings, [str(folder / "judge.toml"), *config], options)

    return read


def test_a_file_may_name_variables_of_keys_alone(read):
    with pytest.raises(UsageError, match="_API_KEY alone, not AWS_SECRET_ACCESS_KEY"):
        read('api_key_env = "AWS_SECRET_ACCESS_KEY"')
    assert read('api_key_env = "MY_API_KEY"').api_key_env == "MY_API_KEY"
    named = read('api_key_env = "AWS_SECRET"', "api_key_env=BEDROCK_TOKEN")
    assert named.api_key_env == "BEDROCK_TOKEN"
    assert read("", api_key_env="BEDROCK_TOKEN").api_key_env == "BEDROCK_TOKEN"


def test_a_server_of_a_file_is_named_by_the_user_first(read, monkeypatch):
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)
    text = f'base_url = "{SERVER}"'
    with pytest.raises(UsageError, match=f"add --base-url {SERVER}$"):
        read(text)
    assert read(text, base_url=SERVER).base_url == SERVER
    assert read(text, f"base_url={SERVER}").base_url == SERVER
    monkeypatch.setenv("OPENAI_BASE_URL", SERVER)
    assert read(text).base_url == SERVER
    assert read('base_url = "https://api.openai.com/v1"').base_url
    with pytest.raises(UsageError, match=r"add --base-url http://localhost:8000/v2$"):
        read('base_url = "http://localhost:8000/v2"')


@pytest.mark.parametrize("name", ["template", "store", "prior"])
def test_paths_of_a_file_lie_below_its_folder(read, tmp_path, name):
    folder = tmp_path / "theirs"
    (tmp_path / "secret").write_text("hunter2")
    (folder / "link").symlink_to(tmp_path / "secret")
    (folder / "prompts").mkdir()
    (folder / "prompts" / "pairwise.jinja").symlink_to(tmp_path / "secret")

    def text(path):
        return f"{name} = '{path}'"

    for path in ("../secret", "link", "prompts", "a/../../secret", tmp_path / "secret"):
        with pytest.raises(UsageError, match=r"is outside .*theirs; name a path below it"):
            read(text(path))
    assert getattr(read(text("mine")), name) == str(folder / "mine")
    assert getattr(read("", f"{name}=/anywhere"), name) == "/anywhere"


def test_a_key_in_the_path_of_an_address_is_refused_and_not_shown(read):
    key = "sk-proj-0123456789abcdef"
    for address in (f"https://gateway/{key}/v1", f"gateway/{key}/v1"):
        for given in ([f'base_url = "{address}"'], ["", f"base_url={address}"]):
            with pytest.raises(UsageError, match="base_url") as caught:
                read(*given)
            assert key not in str(caught.value)
    assert read("", base_url="https://gateway/task-force-of-many/v1").base_url
