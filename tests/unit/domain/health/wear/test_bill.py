"""The bill of an SSD: its lines add up to what the kernel counted, and each writer has one."""

from hypothesis import given
from hypothesis import strategies as st

from nasadvisor.domain.health.wear.bill import BillLine, Payee, added_up, bill_of, with_guests

COUNT = st.integers(0, 2**50)
LINE = st.builds(BillLine, st.sampled_from(Payee), st.sampled_from(["", "tank/a", "tank/b"]), COUNT, COUNT, COUNT)


def role(kind: Payee, count: int) -> BillLine:
    return BillLine(kind, "", count)


def test_each_role_has_its_share_and_the_rest_is_named() -> None:
    bill = bill_of(100, [role(Payee.LOG, 20), role(Payee.CACHE, 50)])
    assert [(line.role, bill.share_of(line)) for line in bill.lines] == [("cache", 0.5), ("other", 0.3), ("log", 0.2)]


def test_two_slices_of_one_role_are_one_share() -> None:
    assert bill_of(None, [role(Payee.LOG, 20), role(Payee.LOG, 20)]).lines[0].device_bytes == 40


def test_nothing_written_has_no_shares() -> None:
    assert bill_of(0, [role(Payee.LOG, 0)]).lines == ()


def test_roles_that_claim_more_than_the_drive_counted_are_a_finding() -> None:
    found = bill_of(10 * 10**9, [role(Payee.CACHE, 100 * 10**9)])
    assert [finding.code for finding in found.findings] == ["role-bytes-exceed-drive"]
    assert sum(map(found.share_of, found.lines)) == 1.0


@given(COUNT, st.lists(LINE, max_size=8))
def test_the_lines_are_the_whole_in_any_order_and_nothing_is_negative(drive: int, lines: list[BillLine]) -> None:
    bill = bill_of(drive, lines)
    assert bill.total == max(drive, sum(line.device_bytes for line in lines))
    assert all(line.device_bytes > 0 for line in bill.lines)
    assert bill == bill_of(drive, lines[::-1])
    assert sum(map(bill.bytes_of, ("data", "log", "cache", "other"))) == bill.total


@given(st.lists(LINE, max_size=8), st.lists(LINE, max_size=8))
def test_days_add_up_in_any_order(first: list[BillLine], second: list[BillLine]) -> None:
    assert added_up([*added_up(first), *added_up(second)]) == added_up(second + first)


def test_all_disks_of_a_guest_are_one_line_and_its_share_of_the_log_another() -> None:
    lines = [
        BillLine(Payee.DATASET, "tank/vm-100-disk-0", 10, 5, 1),
        BillLine(Payee.DATASET, "tank/vm-100-disk-1", 30, 15, 2),
        BillLine(Payee.LOG, "tank/vm-100-disk-1", 7),
        BillLine(Payee.DATASET, "tank/files", 20),
    ]
    bill = with_guests(bill_of(None, lines), lambda name: "VM 100" if "vm-100" in name else "")
    assert [(line.kind, line.name, line.device_bytes) for line in bill.lines] == [
        (Payee.GUEST, "VM 100", 40),
        (Payee.DATASET, "tank/files", 20),
        (Payee.LOG, "VM 100", 7),
    ]
    assert bill.lines[0].amplification == 2.0
    assert bill.amplification == 3.0
