"""Wear from standard logs and from vendor attributes, each as its drive means it."""

import pytest

from nasadvisor.domain.health.smart.reading import decode
from nasadvisor.domain.health.smart.wear import Trust
from tests.unit.domain.health.smart.drives import Row, nvme, sas, sata


def test_nvme_says_its_percentage_and_may_exceed_100() -> None:
    assert decode(nvme(percent=3)).percent_used == 3
    assert decode(nvme(percent=255)).percent_used == 255


def test_sata_says_it_on_page_7() -> None:
    assert decode(sata(page7=17)).percent_used == 17


def test_sas_says_it_in_its_endurance_indicator() -> None:
    assert decode(sas(percent=20)).percent_used == 20


@pytest.mark.parametrize(
    ("row", "percent"),
    [
        ((233, "Media_Wearout_Indicator", 91, 0), 9),
        ((177, "Wear_Leveling_Count", 79, 309), 21),
        ((202, "Percent_Lifetime_Remain", 30, 70), 70),
        ((202, "Percent_Lifetime_Remain", 140, 216), 216),
        ((202, "Percent_Lifetime_Remain", 73, 73), 27),
        ((202, "Percent_Lifetime_Remain", 96, 5011), 4),
        ((202, "Perc_Rated_Life_Used", 98, 2), 2),
        ((231, "SSD_Life_Left", 62, 38), 38),
        ((231, "SSD_Life_Left", 16, 16), 84),
        ((231, "SSD_Life_Left", 25, 73_014_444_032), 75),
        ((245, "Percent_Life_Remaining", 59, 59), 41),
        ((245, "Drive_Life_Remaining%", 84, 84), 16),
        ((178, "SSD_LifeLeft(0.01%)", 100, 8307), 16.93),
        ((173, "Ave_Block-Erase_Count", 56, 1324), 44),
        ((173, "Erase_Count", 188, 8_847_660_202_455), 12),
        ((169, "Remaining_Lifetime_Perc", 100, 93), 7),
    ],
)
def test_vendor_attributes_are_read_as_their_names_mean(row: Row, percent: float) -> None:
    reading = decode(sata(row))
    assert reading.percent_used == pytest.approx(percent)
    assert reading.indicators[0].trust is Trust.DOCUMENTED


def test_wd_packs_percent_and_hundredths_into_attribute_230() -> None:
    raw = int.from_bytes(bytes([87, 16, 70, 15, 87, 16]), "little")
    assert decode(sata((230, "Media_Wearout_Indicator", 100, raw))).percent_used == 15.70
    assert decode(sata((230, "Perc_Write/Erase_Count", 100, (21 << 8) + 60))).percent_used == 21.60


def test_sandforce_has_a_constant_in_attribute_230() -> None:
    assert decode(sata((230, "Life_Curve_Status", 100, 100))).percent_used is None


def test_attribute_233_with_a_counter_in_it_is_no_wear() -> None:
    assert decode(sata((233, "Media_Wearout_Indicator", 100, 24_767))).percent_used is None


def test_on_dells_intel_drives_245_counts_and_233_does_not() -> None:
    rows = ((233, "Media_Wearout_Indicator", 100, 2_971_320), (245, "Unknown_Attribute", 87, 0))
    assert decode(sata(*rows)).percent_used == 13


def test_phison_tells_what_is_left_in_raw_whatever_value_shows() -> None:
    rows = ((173, "MaxAvgErase_Ct", 100, 38_470_225), (231, "SSD_Life_Left", 31, 69))
    assert decode(sata(*rows)).percent_used == 31


@pytest.mark.parametrize(("value", "raw", "percent"), [(99, 0, 1), (100, 97, 3), (100, 0, None)])
def test_phison_without_raw_counts_value_down_and_a_full_value_without_raw_says_nothing(
    value: int, raw: int, percent: float | None
) -> None:
    rows = [(number, "Unknown_Attribute", 100, 2**20) for number in (168, 173, 218, 241)]
    assert decode(sata(*rows, (231, "Unknown_SSD_Attribute", value, raw), family="Phison")).percent_used == percent


def test_silicon_motion_divides_its_erases_by_their_rating() -> None:
    rows = [(number, "Unknown_Attribute", 100, 0) for number in (160, 161, 163, 164, 165, 166)]
    rows += [(167, "Average_Erase_Count", 100, 1925), (168, "Max_Erase_Count_of_Spec", 100, 1000)]
    rows += [(169, "Remaining_Lifetime_Perc", 100, 0), (177, "Wear_Leveling_Count", 100, 19_207)]
    reading = decode(sata(*rows))
    assert reading.percent_used == 192.5
    assert all(one.code != "attribute-177" for one in reading.indicators)


def test_a_controller_is_recognised_without_the_database() -> None:
    rows = [(number, "Unknown_Attribute", 100, 0) for number in (160, 161, 163, 164, 165, 166)]
    rows += [(167, "Unknown_Attribute", 100, 488), (168, "Unknown_Attribute", 100, 5050)]
    assert decode(sata(*rows, family="")).percent_used == pytest.approx(9.66, abs=0.01)


def test_without_the_database_a_name_is_only_a_guess() -> None:
    assert decode(sata((177, "Wear_Leveling_Count", 96, 245), family="")).indicators[0].trust is Trust.GUESSED


def test_of_two_guesses_the_higher_one_is_believed() -> None:
    rows = ((202, "Unknown_SSD_Attribute", 100, 0), (173, "Unknown_Attribute", 91, 612))
    assert decode(sata(*rows, family="")).percent_used == 9


def test_a_standard_indicator_comes_before_attributes_and_keeps_them() -> None:
    reading = decode(sata((233, "Media_Wearout_Indicator", 90, 0), page7=11))
    assert [one.percent_used for one in reading.indicators] == [11, 10]


def test_smartctls_own_conclusion_is_used_only_without_a_standard_one() -> None:
    assert decode(sata() | {"endurance_used": {"current_percent": 7}}).percent_used == 7
    assert decode(sata(page7=3) | {"endurance_used": {"current_percent": 7}}).percent_used == 3


def test_spare_blocks_are_no_wear() -> None:
    reading = decode(sata((232, "Available_Reservd_Space", 42, 0)))
    assert (reading.percent_used, reading.spare_percent) == (None, 42)


def test_a_hard_disk_has_no_wear() -> None:
    assert decode(sata((231, "SSD_Life_Left", 62, 38)) | {"rotation_rate": 7200}).percent_used is None


def test_unknown_stays_unknown() -> None:
    reading = decode(sata(family=""))
    assert (reading.percent_used, reading.indicators, reading.bytes_written) == (None, (), None)
