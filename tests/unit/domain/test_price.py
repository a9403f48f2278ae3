import pytest

from prwatch.domain.price import (
    BRANCHES_A_REQUEST,
    PROBES_A_POINT,
    PROBES_A_REQUEST,
    READS_A_REQUEST,
    Price,
    price_branches,
    price_pages,
    price_probes,
    price_reads,
)
from prwatch.github import branches, details, probe


@pytest.mark.parametrize(
    ("price", "count", "expected"),
    [
        pytest.param(price_probes, 0, Price(0, 0), id="nothing to probe"),
        pytest.param(price_probes, 1, Price(1, 1), id="a request is a point at least"),
        pytest.param(price_probes, 149, Price(1, 1), id="points are rounded down"),
        pytest.param(price_probes, 150, Price(2, 1), id="and up"),
        pytest.param(price_probes, 501, Price(6, 2), id="one more than a request"),
        pytest.param(price_branches, 50, Price(1, 1), id="branches"),
        pytest.param(price_branches, 51, Price(2, 2), id="one branch more"),
        pytest.param(price_reads, 25, Price(1, 1), id="readings"),
        pytest.param(price_reads, 26, Price(2, 2), id="one reading more"),
        pytest.param(
            price_reads, 25 * 10**15, Price(10**15, 10**15), id="as many as there are"
        ),
        pytest.param(price_pages, 0, Price(1, 1), id="an empty list is a page"),
        pytest.param(price_pages, 101, Price(2, 2), id="two pages"),
    ],
)
def test_a_question_has_its_price(price, count, expected):
    assert price(count) == expected


def test_prices_are_added_and_multiplied():
    assert Price(1, 2) + Price(3, 4) * 2 == Price(7, 10)


def test_requests_hold_what_they_are_priced_for():
    assert PROBES_A_REQUEST == probe.BATCH_SIZE
    assert PROBES_A_POINT == probe.FIELD_SIZE
    assert READS_A_REQUEST == details.DETAIL_SIZE
    assert BRANCHES_A_REQUEST == branches.BATCH_SIZE
