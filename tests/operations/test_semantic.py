"""The passages of a vault are embedded once, also for a new index, and forgotten for good."""

from __future__ import annotations

import time
from collections.abc import Sequence

from brain.api import Brain
from brain.embed.similarity import SENTENCES
from brain.index.vectors import Model, text_digest
from brain.operations.search import embed
from brain.search.hybrid import passages
from brain.state import Recall
from tests import kit
from tests.conftest import MakeVault, OpenBrain
from tests.embed.kit import Hashing

HYBRID = "searchProvider: hybrid\n"


def hybrid(vault: MakeVault, opened: OpenBrain, files: dict[str, str]) -> tuple[Brain, Hashing]:
    brain, model = opened(vault({**files, "40_Brain/brain.yaml": HYBRID})), Hashing()
    brain.vault.provider = model
    brain.sync()
    assert embed(brain.vault) == []
    assert set(SENTENCES) <= set(model.given)
    model.given.clear()
    return brain, model


def vectors(brain: Brain, *texts: str) -> int:
    """How many of these texts have a vector."""
    model = brain.vault.vectors.model("hashing")
    assert isinstance(model, Model)
    return len(brain.vault.vectors.get(model, [text_digest(text) for text in texts]))


def test_an_edit_embeds_only_what_is_new(vault: MakeVault, opened: OpenBrain) -> None:
    lines = [f"- Fact number {n} is about {word}\n" for n, word in enumerate("abcdefgh")]
    brain, model = hybrid(vault, opened, {"40_Brain/MEMORY.md": "".join(lines)})
    root = brain.vault.paths.root
    (root / "40_Brain/MEMORY.md").write_text("".join([*lines, "- The walrus came\n"]))
    brain.sync()
    assert embed(brain.vault) == []
    assert model.given == ["The walrus came"]


def test_a_rebuilt_index_or_another_process_needs_no_model(
    vault: MakeVault, opened: OpenBrain
) -> None:
    brain, model = hybrid(vault, opened, dict(kit.VAULT))
    before = kit.answers(brain, "walrus")
    brain.sync(rebuild=True)
    assert kit.answers(brain, "walrus") == before
    root = brain.vault.paths.root
    (root / "Notes/Walrus.md").rename(root / "Notes/Sub walrus.md")
    brain.sync(rebuild=True)
    brain.close()
    model.given.clear()
    again = opened(root)
    again.vault.provider = model
    again.sync()
    assert embed(again.vault) == []
    assert all("Sub walrus" in text for text in model.given)  # its title is part of its passages
    assert len(model.given) < len(list(passages(again.vault.index)))


def test_what_is_forgotten_for_good_leaves_no_vector(vault: MakeVault, opened: OpenBrain) -> None:
    files = {"40_Brain/MEMORY.md": "- The physician is kind ^m-7f3k2ab4\n- Boats are wet\n"}
    brain, _ = hybrid(vault, opened, files)
    brain.update("m-7f3k2ab4", "The physician is not kind")
    brain.search("doctor")
    every = {text for _, text in passages(brain.vault.index)}
    assert vectors(brain, "The physician is kind", "Boats are wet") == 2
    assert vectors(brain, *every) == len(every) == 2
    left = brain.forget("m-7f3k2ab4", purge=True).left
    assert left == ["backups and sync services", "devices that have not synced since"]
    assert vectors(brain, "Boats are wet") == 1
    assert vectors(brain, *every, "The physician is kind") == 1


def test_loading_a_model_does_not_count_as_retrieval(vault: MakeVault, opened: OpenBrain) -> None:
    class Slow(Hashing):
        loaded = False

        def load(self, download: bool = False) -> None:
            started = time.thread_time()
            while not self.loaded and time.thread_time() < started + 0.3:
                pass
            self.loaded = True

        def embed(self, texts: Sequence[str]) -> list[list[float]]:
            self.load()
            return super().embed(texts)

    settings = f"{HYBRID}maxRetrievalMs: 200\n"
    files = {"40_Brain/MEMORY.md": "- Boats are wet\n", "40_Brain/brain.yaml": settings}
    brain = opened(vault(files))
    brain.vault.provider = Hashing()
    brain.sync()
    assert embed(brain.vault) == []
    root = brain.vault.paths.root
    brain.close()
    again = opened(root)
    again.vault.provider = Slow()
    assert again.context("boats").degraded == ""
    [*_, (_, ms, _)] = again.vault.state.rows(Recall)
    assert ms < again.vault.meaning.spent * 1000
