"""What a drive says of itself: from one `smartctl -x -j` document to a typed reading. Pure, and never an exception.

`report` names what the document holds, `wear`, `written` and `power_loss` read one thing each out of it, and `reading`
puts them together. What cannot be read is None; what contradicts itself becomes a finding.
"""
