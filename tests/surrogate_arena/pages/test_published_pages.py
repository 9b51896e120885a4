"""Pages of a board on published ratings."""

from published_ratings import as_published

from surrogate_arena.pages.site import write_site


def test_its_site_is_like_any_other(english_arena, build_quickly, tmp_path):
    board = build_quickly(as_published(english_arena))
    index = write_site(board, tmp_path).read_text(encoding="utf-8")
    assert "ratings rest on" in index
    assert "by published" not in index
