"""Which attribute counts what, by its name, and the count in a raw value that holds several."""

import pytest

from nasadvisor.domain.health.smart.attributes import crc_errors, reallocated, smart_values
from nasadvisor.domain.health.smart.counts import events, first_number
from nasadvisor.domain.health.smart.reading import decode
from tests.unit.domain.health.smart.drives import Json, sata


def row(number: int, name: str, raw: int, shown: str = "") -> Json:
    raws = {"value": raw, "string": shown or str(raw)}
    return {"id": number, "name": name, "value": 100, "worst": 100, "thresh": 0, "raw": raws}


def disk(*rows: Json) -> Json:
    return sata() | {"ata_smart_attributes": {"table": list(rows)}}


@pytest.mark.parametrize(
    ("raw", "shown", "number"),
    [
        (42, "42", 42),
        (1179816, "168 (0 18)", 168),  # raw16(raw16)
        (8_585_366, "150 (Average 131)", 150),  # raw16(avg16)
        (167_031_278_144_165, "2725 (151 234 0)", 2725),  # raw24(raw8)
        (9_781_000, "0/9781000", 0),  # raw24/raw32
        (3 << 24 | 55, "3/55", 3),  # raw24/raw24
        (8_306_523_505_707, "1934 866 1067", 1067),  # raw16
        (197_121, "0 0 0 3 2 1", 1),  # raw8
        (1_092_660, "18211h+00m", 18_211),  # min2hour
        (9_230_082_287_649_927, "50311h+35m+49.046s", 50_311),  # msec24hour32
        (176_095_232_031, "31 (Min/Max 24/41)", 31),  # tempminmax
        (253, "-3 (Min/Max -9/41)", -3),
        (77_309_411_352, "24 (0 18 0 0 0)", 24),
        (355, "35.5", 35),  # temp10x
        (30_004_641_529_860, "0x001b4a00000004", 30_004_641_529_860),  # hex56: the maker's own bits
        (7, "", 7),
        (None, "", None),
    ],
)
def test_the_number_that_a_person_reads_first_is_the_count(raw: int | None, shown: str, number: int | None) -> None:
    assert first_number(raw, shown) == number


@pytest.mark.parametrize(
    ("raw", "count"),
    [
        (2**31, 2**31),
        (2**32 - 1, None),  # -1 of Hitachi's disks, and other counts below zero
        (2**32 - 12, None),
        (2**48 - 1, None),
        (2000 << 32, 0),
        (2 << 32 | 2 << 16 | 2, 2),
        (-3, None),
        (None, None),
    ],
)
def test_more_events_than_there_can_be_are_several_counts_in_one(raw: int | None, count: int | None) -> None:
    assert events(raw, str(raw)) == count


@pytest.mark.parametrize(
    ("number", "name", "field"),
    [
        (5, "Reallocated_Sector_Ct", "reallocated"),
        (5, "Reallocate_NAND_Blk_Cnt", "reallocated"),
        (5, "Retired_Block_Count", "reallocated"),
        (5, "Runtime_Bad_Block", "reallocated"),
        (197, "Current_Pending_Sector", "pending"),
        (197, "Pending_Sector_Count", "pending"),
        (187, "Reported_Uncorrect", "media_errors"),
        (187, "Uncorrectable_Error_Cnt", "media_errors"),
        (198, "Offline_Uncorrectable", "media_errors"),
        (198, "Uncor_Read_Error_Ct", "media_errors"),
        (1, "UECC_Ct", "media_errors"),
        (1, "Uncorrectable_ECC_Cnt", "media_errors"),
        (13, "Lifetime_UECC_Ct", "media_errors"),
        (160, "UECC_Sector_Count", "media_errors"),
        (195, "Uncorrectable_Error_Cnt", "media_errors"),
        (197, "Total_Pending_Sectors", "media_errors"),
    ],
)
def test_a_count_is_told_by_its_name(number: int, name: str, field: str) -> None:
    reading = decode(disk(row(number, name, 6)))
    counts = {each: getattr(reading, each) for each in ("reallocated", "pending", "media_errors")}
    assert counts == dict.fromkeys(counts, None) | {field: 6}


@pytest.mark.parametrize(
    ("number", "name"),
    [
        (5, "Total_Erase_Cycles"),
        (183, "Runtime_Bad_Block"),
        (187, "Total_Unc_NAND_Reads"),
        (195, "ECC_Uncorr_Error_Count"),
        (197, "Current_Pending_ECC_Cnt"),
        (197, "Bogus_Current_Pend_Sect"),
        (197, "Read_Failure_Blk_Ct"),
        (197, "Not_In_Use"),
        (198, "Host_Reads_GiB"),
        (198, "Read_Sectors_Tot_Ct"),
        (198, "Unknown_Attribute"),
    ],
)
def test_a_number_alone_counts_nothing(number: int, name: str) -> None:
    reading = decode(disk(row(number, name, 13_570)))
    assert (reading.reallocated, reading.pending, reading.media_errors) == (None, None, None)


def test_errors_are_read_out_of_units_of_data_and_the_worst_count_of_them_is_taken() -> None:
    packed = row(198, "Uncorrectable_Sector_Ct", 9_781_000, "0/9781000")
    assert decode(disk(packed)).media_errors == 0
    assert decode(disk(packed, row(187, "Reported_Uncorrect", 3))).media_errors == 3


@pytest.mark.parametrize(
    ("number", "name"),
    [(199, "UDMA_CRC_Error_Count"), (199, "CRC_Error_Count"), (210, "SATA_CRC_Error_Count"), (218, "CRC_Errors")],
)
def test_damaged_transfers_have_many_numbers(number: int, name: str) -> None:
    found = crc_errors(smart_values(disk(row(199, "Host_Writes_GiB", 9120), row(number, name, 12))))
    assert found is not None
    assert (found.number, found.raw) == (number, 12)
    assert crc_errors(smart_values(disk(row(199, "Write_Sectors_Tot_Ct", 9120)))) is None


def test_what_is_below_zero_is_not_watched() -> None:
    values = smart_values(disk(row(5, "Reallocated_Sector_Ct", 2**32 - 1), row(199, "UDMA_CRC_Error_Count", 2**48 - 1)))
    assert (reallocated(values), crc_errors(values)) == (None, None)


def test_what_is_watched_over_time_is_the_count_and_not_the_packed_value() -> None:
    (value,) = smart_values(disk(row(5, "Reallocated_Sector_Ct", 1_179_816, "168 (0 18)")))
    assert (value.raw, value.words, value) == (168, "168 (0 18)", reallocated((value,)))


def test_a_temperature_is_read_out_of_what_is_packed_with_it_and_hours_out_of_minutes() -> None:
    reading = decode(
        disk(
            row(9, "Power_On_Hours", 1_092_660, "18211h+00m"),
            row(194, "Temperature_Celsius", 176_095_232_031, "31 (Min/Max 24/41)"),
        )
        | {"power_on_time": None}
    )
    assert (reading.hours, reading.temperature_celsius) == (18_211, 31)


@pytest.mark.parametrize("told", [0, -93, -273, 655])
def test_a_sensor_that_is_not_there_measures_nothing(told: int) -> None:
    assert decode(disk() | {"temperature": {"current": told}}).temperature_celsius is None
    beside = disk(row(190, "Airflow_Temperature_Cel", 35)) | {"temperature": {"current": told}}
    assert decode(beside).temperature_celsius == 35


UNKNOWN = {"model_family": None}


@pytest.mark.parametrize(
    "beside",
    [
        {"ata_smart_error_log": {"extended": {"count": 3}}},
        {"ata_pending_defects_log": {"count": 8}},
        {"ata_smart_attributes": {"table": [row(198, "Offline_Uncorrectable", 13_570), row(5, "X", 2)]}},
        {"ata_smart_attributes": {"table": [row(198, "Offline_Uncorrectable", 13_570) | {"value": 98}]}},
        {"rotation_rate": 7200},
        {"rotation_rate": None},
        {"model_family": "Example SSDs"},
    ],
)
def test_of_an_ssd_that_nobody_knows_the_name_of_a_number_counts_only_beside_another_witness(beside: Json) -> None:
    alone = disk(row(198, "Offline_Uncorrectable", 13_570)) | UNKNOWN
    assert decode(alone).media_errors is None
    assert decode(alone | beside).media_errors == 13_570


def test_unreadable_sectors_that_come_and_go_are_none_whatever_the_database_calls_them() -> None:
    pending = disk(row(197, "Current_Pending_Sector", 1), row(5, "Reallocated_Sector_Ct", 2)) | UNKNOWN
    assert decode(pending).pending == 1
    for model in ("CT4000MX500SSD1", "Crucial_CT250MX500SSD4"):
        assert decode(pending | {"model_name": model}).pending is None


def test_a_count_below_zero_is_none() -> None:
    minus_one = disk(row(197, "Current_Pending_Sector", 2**32 - 1), row(187, "Reported_Uncorrect", 2**48 - 1))
    statistic = {"offset": 8, "value": 2**32 - 1, "flags": {"valid": True}}
    document = minus_one | {"ata_device_statistics": {"pages": [{"number": 4, "table": [statistic]}]}}
    assert (decode(document).pending, decode(document).media_errors) == (None, None)


@pytest.mark.parametrize(("log", "attribute", "pending"), [(0, 16, 16), (5, 0, 5), (None, 7, 7), (0, 0, 0)])
def test_what_a_sata_disk_cannot_read_is_the_most_that_it_tells(log: int | None, attribute: int, pending: int) -> None:
    document = disk(row(197, "Current_Pending_Sector", attribute)) | {"ata_pending_defects_log": {"count": log}}
    assert decode(document).pending == pending


def test_a_pre_failure_attribute_at_its_threshold_is_told_whatever_the_exit_status_is() -> None:
    failed = {**row(5, "Reallocated_Sector_Ct", 560), "thresh": 140, "when_failed": "now"}
    assert "prefail-below-threshold" in decode(disk({**failed, "flags": {"prefailure": True}})).exit_bits
    assert decode(disk({**failed, "flags": {"prefailure": False}})).exit_bits == ()
    assert decode(disk({**failed, "flags": {"prefailure": True}, "when_failed": "past"})).exit_bits == ()
