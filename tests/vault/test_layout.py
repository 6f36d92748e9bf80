"""Where things are."""

from __future__ import annotations

from pathlib import Path

import pytest

from brain.errors import VaultNotFound
from brain.vault import layout


def test_a_vault_is_found_from_anywhere_inside(tmp_path: Path) -> None:
    (tmp_path / "v/40_Brain/agents/x").mkdir(parents=True)
    (tmp_path / "v/Notes/deep").mkdir(parents=True)
    for start in ("v", "v/Notes/deep", "v/40_Brain", "v/40_Brain/agents/x"):
        found = layout.find(tmp_path / start, tmp_path / "state")
        assert (found.root, found.brain) == (tmp_path / "v", "40_Brain")
        assert found.state.parent == tmp_path / "state"


def test_a_brain_folder_is_known_by_its_settings(tmp_path: Path) -> None:
    (tmp_path / "v/Zettel").mkdir(parents=True)
    (tmp_path / "v/Other").mkdir()
    with pytest.raises(VaultNotFound, match="brain init"):
        layout.find(tmp_path / "v", tmp_path)
    (tmp_path / "v/Zettel/brain.yaml").write_text("")
    for start in ("v", "v/Other", "v/Zettel"):
        found = layout.find(tmp_path / start, tmp_path)
        assert (found.root, found.brain) == (tmp_path / "v", "Zettel")


def test_no_such_folder(tmp_path: Path) -> None:
    with pytest.raises(VaultNotFound, match="There is no folder"):
        layout.find(tmp_path / "nowhere", tmp_path)


def test_two_vaults_have_two_state_folders(tmp_path: Path) -> None:
    one, two = (layout.vault_at(tmp_path / name, "40_Brain", tmp_path) for name in "ab")
    assert one.state != two.state
    assert one.state == layout.vault_at(tmp_path / "a", "40_Brain", tmp_path).state


@pytest.mark.parametrize(
    ("folder", "cloud"),
    [
        ("/Users/x/Library/Mobile Documents/iCloud~md~obsidian/Documents/V", True),
        ("/Users/x/Library/CloudStorage/GoogleDrive-x/My Drive/V", True),
        ("/home/x/Dropbox/V", True),
        ("/home/x/OneDrive - Company/V", True),
        ("/home/x/Documents/V", False),
        ("/home/x/My Dropbox notes/V", False),
    ],
)
def test_cloud_folders(folder: str, cloud: bool, tmp_path: Path) -> None:
    vault = layout.vault_at(Path(folder), "40_Brain", tmp_path)
    home = vault.state if cloud else vault.folder
    assert layout.in_cloud_folder(Path(folder)) == cloud
    assert layout.database(vault, "auto") == f"{home}/brain.db"


def test_db_path(tmp_path: Path) -> None:
    vault = layout.vault_at(tmp_path, "40_Brain", tmp_path)
    assert layout.database(vault, "x/y.db") == f"{tmp_path}/40_Brain/x/y.db"
    assert layout.database(vault, "/x/y.db") == "/x/y.db"
    assert layout.database(vault, "~/y.db") == f"{Path.home()}/y.db"


@pytest.mark.parametrize(
    ("environ", "expected"),
    [
        ({"BRAIN_STATE": "/s", "HOME": "/h"}, "/s"),
        ({"XDG_STATE_HOME": "/x", "HOME": "/h"}, "/x/brain"),
        ({"HOME": "/h"}, "/h/.local/state/brain"),
    ],
)
def test_state_home(
    environ: dict[str, str], expected: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.platform", "linux")
    assert layout.state_home(environ) == expected
