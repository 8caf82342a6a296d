"""What is got ready is there to be got: files of the Streamlit that is installed."""

from core.ui.frame.ahead import PARTS, parts


def test_every_part_is_one_file_of_streamlit():
    assert [path.name.partition(".")[0] for path in parts()] == list(PARTS)
