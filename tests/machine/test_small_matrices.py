"""One thread for linear algebra."""

import numpy as np
import pytest
from threadpoolctl import threadpool_info, threadpool_limits

from core.machine.small_matrices import one_thread


def threads() -> set[int]:
    np.linalg.inv(np.eye(2))
    return {library["num_threads"] for library in threadpool_info() if library["user_api"] == "blas"}


def test_there_is_one_inside_and_as_many_as_before_outside():
    with threadpool_limits(2, "blas"):
        with one_thread():
            with one_thread():
                assert threads() == {1}
            assert threads() == {1}
        assert threads() == {2}
        with pytest.raises(ZeroDivisionError), one_thread():
            raise ZeroDivisionError
        assert threads() == {2}
