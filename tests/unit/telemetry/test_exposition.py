"""The text of metrics, read back by the parser of the library."""

from prometheus_client.parser import text_string_to_metric_families

from prwatch.telemetry import metrics
from prwatch.telemetry.exposition import Exposition
from prwatch.telemetry.meter import Meter


def read(meter):
    text = Exposition(meter).render().decode()
    return {
        (sample.name, tuple(sorted(sample.labels.items()))): sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
    }


def test_every_metric_of_the_catalogue_is_announced_with_its_kind_and_text():
    text = Exposition(Meter()).render().decode()

    for metric in metrics.CATALOGUE:
        assert f"# TYPE {metric.name} {metric.kind}\n" in text
        assert f"# HELP {metric.name} {metric.text}\n" in text


def test_values_are_shown_under_their_labels():
    meter = Meter()
    meter.count(metrics.DELIVERIES, 2, "webhook", "dead")
    meter.put(metrics.RESIDENT, 1.5)

    found = read(meter)

    labels = (("outcome", "dead"), ("sink_kind", "webhook"))
    assert found["prwatch_deliveries_total", labels] == 2
    assert found["prwatch_process_resident_bytes", ()] == 1.5


def test_a_histogram_is_cumulative():
    meter = Meter()
    for seconds in (0.2, 3, 3, 1000):
        meter.observe(metrics.CYCLE_DURATION, seconds)

    found = read(meter)

    name = "prwatch_cycle_duration_seconds"
    buckets = [found[f"{name}_bucket", (("le", le),)] for le in ("0.1", "0.25", "5.0")]
    assert buckets == [0, 1, 3]
    assert found[f"{name}_bucket", (("le", "+Inf"),)] == found[f"{name}_count", ()] == 4
    assert found[f"{name}_sum", ()] == 1006.2


def test_two_meters_of_one_process_share_nothing():
    one, other = Meter(), Meter()
    shown = Exposition(one), Exposition(other)
    one.count(metrics.REFERENCES, 7)

    texts = [each.render().decode() for each in shown]

    assert "prwatch_references_asked_total 7.0" in texts[0]
    assert "prwatch_references_asked_total 0.0" in texts[1]
