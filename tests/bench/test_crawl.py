from __future__ import annotations

import pytest

from evidence.bench.crawl import NAME, measure
from evidence.models import Collection
from tests.conftest import WordEmbedder


@pytest.mark.django_db
def test_the_account_of_a_crawl_adds_up(embedder: WordEmbedder) -> None:
    """Figures that README and others quote, of a crawl that did something else."""
    heading, *rows = (line.split("  ") for line in measure(20))
    first, same, changed, later = ([cell for cell in row if cell][1:8] for row in rows)
    assert [name for name in heading if name][1:8] == ["new", "changed", "unchanged", "gone", "alias", "failed", "left"]
    assert [cell.strip() for cell in first] == ["20", "0", "0", "0", "1", "1", "0"]
    assert [cell.strip() for cell in same] == ["0", "0", "20", "0", "1", "1", "0"]
    assert [cell.strip() for cell in changed] == ["0", "2", "16", "2", "1", "1", "0"]
    assert [cell.strip() for cell in later] == ["0", "0", "18", "2", "1", "1", "2"]
    assert not Collection.objects.filter(name=NAME).exists()
