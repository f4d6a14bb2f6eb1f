from __future__ import annotations

import io
import re
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from evidence.configured import pipeline
from evidence.ingest import rebuild
from evidence.models import Job, JobState
from evidence.retrieve.pipeline import ask
from evidence.store import indexes
from tests.conftest import WordEmbedder
from tests.handbook import GATE, KITCHEN, collection_of, take_in, work_off

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("embedder")]


def index(*arguments: str, **options: Any) -> str:
    """What the command writes."""
    out = io.StringIO()
    call_command("index", *arguments, verbosity=0, stdout=out, **options)
    return out.getvalue()


@pytest.fixture
def handbook(embedder: WordEmbedder) -> None:
    take_in({"gate.html": GATE, "kitchen.html": KITCHEN})


def test_before_the_first_ingest_there_is_none() -> None:
    """An empty screen, of which one cannot tell whether it is an error."""
    assert index("list") == "No index yet: the first ingest makes one.\n"


@pytest.mark.usefixtures("handbook")
def test_the_list_says_what_each_index_is_and_which_one_answers() -> None:
    """Two indexes that one cannot tell apart."""
    index("build", "passages", "--unit", "passage", "--encoding", "single", "--no-context")
    first, second = (line for line in index("list").splitlines() if not line.startswith("  "))
    assert re.match(r"default +default +6 seeds  .*256 dimensions, shared encoding, with context$", first)
    assert re.match(r"passages +complete +2 passages  .*256 dimensions, single encoding, without context$", second)


@pytest.mark.usefixtures("handbook")
def test_an_index_is_built_and_made_the_default() -> None:
    """A better index that can be built and never used."""
    assert index("build", "blocks", "--unit", "block") == "blocks is complete: 4 blocks.\n"
    assert index("default", "blocks") == "Questions are answered from blocks now.\n"
    found = ask("Where is the tea?", collections=[collection_of().pk])
    assert found.index == "blocks"
    assert found.excerpts[0].address == "kitchen.html"


@pytest.mark.usefixtures("handbook")
def test_the_default_is_not_dropped_while_there_are_others() -> None:
    """A site that answers nothing, although another index stands beside."""
    index("build", "blocks", "--unit", "block")
    with pytest.raises(
        CommandError, match=r"'default' answers questions; choose another first: manage\.py index default"
    ):
        index("drop", "default")
    index("default", "blocks")
    assert index("drop", "default") == "default is gone.\n"
    assert ask("Where is the tea?", collections=[collection_of().pk]).index == "blocks"


@pytest.mark.usefixtures("handbook")
def test_the_last_index_can_be_dropped_and_built_again() -> None:
    """An index of a model that is no longer there, which nobody can get rid of."""
    index("drop", "default")
    assert index("list") == "No index yet: the first ingest makes one.\n"
    index("build", "again")
    found = ask("Where is the tea?", collections=[collection_of().pk])
    assert (found.index, found.excerpts[0].address) == ("again", "kitchen.html")


@pytest.mark.usefixtures("handbook")
def test_an_interrupted_build_is_shown_and_completed(embedder: WordEmbedder, monkeypatch: pytest.MonkeyPatch) -> None:
    """Half an index that looks whole, or must be thrown away."""
    monkeypatch.setattr(rebuild, "DOCUMENTS_OF_A_BATCH", 1)
    embed, batches = rebuild.embed, []

    def interrupt(*arguments: Any) -> list[int]:
        batches.append(arguments)
        if len(batches) == 2:
            raise KeyboardInterrupt
        return embed(*arguments)

    monkeypatch.setattr(rebuild, "embed", interrupt)
    with pytest.raises(KeyboardInterrupt):
        index("build", "blocks", "--unit", "block")
    assert re.search(r"^blocks +incomplete +2 blocks", index("list"), re.MULTILINE)
    with pytest.raises(CommandError, match=r"not complete; finish it with: manage\.py index build blocks"):
        index("default", "blocks")
    assert index("build", "blocks", "--unit", "block") == "blocks is complete: 4 blocks.\n"
    assert len(batches) == 3


@pytest.mark.usefixtures("handbook")
@pytest.mark.parametrize("arguments", [("drop", "blocs"), ("default", "blocs")])
def test_an_unknown_index_is_named_with_those_there_are(arguments: tuple[str, ...]) -> None:
    """A traceback for a typing error."""
    with pytest.raises(CommandError, match="no index 'blocs'; there are: default"):
        index(*arguments)


@pytest.mark.usefixtures("handbook")
def test_an_index_that_exists_already_under_another_name_or_in_another_way_is_refused() -> None:
    """The same vectors paid for twice, or two kinds of units in one index."""
    with pytest.raises(CommandError, match="'default' embeds in the same way already"):
        index("build", "twin")
    with pytest.raises(CommandError, match="'default' exists and embeds in another way"):
        index("build", "default", "--unit", "block")


@pytest.mark.usefixtures("handbook")
def test_a_changed_model_is_built_beside_the_old_one(embedder: WordEmbedder) -> None:
    """Case 58: a remedy that the error names, and that does not work."""
    embedder.fingerprint = "words-2"
    index("build", "new")
    index("default", "new")
    index("drop", "default")
    assert ask("Where is the tea?", collections=[collection_of().pk]).excerpts[0].address == "kitchen.html"
    with pipeline() as connection:
        assert [found.fingerprint for found in indexes.all_indexes(connection)] == ["words-2"]


@pytest.mark.usefixtures("handbook")
def test_the_list_tells_that_another_model_is_set_than_the_one_that_answers(settings: Any) -> None:
    """Case 58: a new SPIRE_EMBEDDER that seems to be in use, while the old model answers."""
    settings.SPIRE_EMBEDDER = "better"
    assert re.search(r"SPIRE_EMBEDDER is better; questions are answered with .* until", index("list"))


@pytest.mark.usefixtures("handbook")
def test_contexts_are_found_anew_after_policies_changed() -> None:
    """A switch in the admin, and pages that know nothing of it."""
    collection = collection_of()
    assert index("contexts", "handbook") == (
        "Handbook: the contexts of 2 documents are found anew; optional policies: none.\n"
    )
    collection.policies = ["reference"]
    collection.save()
    assert index("contexts", "Handbook").endswith("optional policies: reference.\n")
    with pytest.raises(CommandError, match="no collection 'other'; there are: Handbook"):
        index("contexts", "other")


@pytest.mark.usefixtures("handbook")
def test_a_build_can_be_left_to_a_worker() -> None:
    """Hours in a terminal that must not be closed."""
    assert "is built by a worker" in index("build", "blocks", "--unit", "block", "--later")
    assert "blocks" not in index("list")
    index("build", "blocks", "--unit", "block", "--later")
    work_off()
    assert "blocks               complete            4 blocks" in index("list")
    job = Job.objects.get()
    assert (job.state, job.done, job.total) == (JobState.DONE, 2, 2)
    index("build", "blocks", "--unit", "sentence", "--later")
    work_off()
    assert "embeds in another way" in Job.objects.latest("pk").error
