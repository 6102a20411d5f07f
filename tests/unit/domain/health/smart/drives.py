"""Documents as `smartctl -x -j` writes them, reduced by hand to what a test needs."""

from collections.abc import Mapping, Sequence
from typing import Any

Json = dict[str, Any]
Row = tuple[int, str, int, int]
"""Number, name, VALUE and RAW of an attribute."""

GB = 10**9


def nvme(percent: object = 3, units: object = 1_000_000, **log: object) -> Json:
    """An NVMe drive."""
    return {
        "device": {"type": "nvme", "protocol": "NVMe"},
        "model_name": "EXAMPLE NVME 960G",
        "serial_number": "N1",
        "user_capacity": {"blocks": 1_875_385_008, "bytes": 960_197_124_096},
        "smart_status": {"passed": True, "nvme": {"value": 0}},
        "temperature": {"current": 41},
        "power_on_time": {"hours": 9000},
        "nvme_smart_health_information_log": {
            "critical_warning": 0,
            "available_spare": 100,
            "available_spare_threshold": 10,
            "percentage_used": percent,
            "data_units_written": units,
            "unsafe_shutdowns": 4,
            "media_errors": 0,
            "num_err_log_entries": 2,
            **log,
        },
    }


def sata(
    *rows: Row,
    model: str = "EXAMPLE SATA 480G",
    family: str = "Example SSDs",
    page7: int | None = None,
    sectors: int | None = None,
    capacity: int = 480 * GB,
) -> Json:
    """A SATA SSD with these attributes; a family means that smartctl's database knows it."""
    document: Json = {
        "device": {"type": "sat", "protocol": "ATA"},
        "model_name": model,
        "serial_number": "S1",
        "user_capacity": {"bytes": capacity},
        "rotation_rate": 0,
        "power_on_time": {"hours": 20_000},
        "ata_smart_attributes": {"revision": 1, "table": [_row(row) for row in rows]},
        "ata_device_statistics": {"pages": list(_pages({7: {8: page7}, 1: {24: sectors}}))},
    }
    return document | ({"model_family": family} if family else {})


def sas(percent: object = 2, gigabytes: object = "12103.790") -> Json:
    """A SAS SSD."""
    return {
        "device": {"type": "scsi", "protocol": "SCSI"},
        "scsi_model_name": "EXAMPLE SAS 400G",
        "user_capacity": {"bytes": 400 * GB},
        "rotation_rate": 0,
        "scsi_percentage_used_endurance_indicator": percent,
        "scsi_grown_defect_list": 1,
        "scsi_error_counter_log": {
            "read": {"total_uncorrected_errors": 0},
            "write": {"gigabytes_processed": gigabytes, "total_uncorrected_errors": 3},
        },
    }


def _row(row: Row) -> Json:
    number, name, value, raw = row
    return {"id": number, "name": name, "value": value, "raw": {"value": raw, "string": str(raw)}}


def _pages(pages: Mapping[int, Mapping[int, int | None]]) -> Sequence[Json]:
    return [
        {
            "number": number,
            "table": [
                {"offset": offset, "value": value, "flags": {"valid": True}}
                for offset, value in table.items()
                if value is not None
            ],
        }
        for number, table in pages.items()
    ]
