"""What each code means that a refusal, a warning, a finding or an error carries, for people who met one.

The sentences and what is said beyond them stand where they are made. `make codes` gathers them from there into
`catalogue.json` and docs/reference/codes.md; nothing here is written by hand twice.
"""
