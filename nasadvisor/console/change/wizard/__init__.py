"""The wizard: Devices and size → Review → Result.

`draft` holds the choices, `devices`, `layout`, `preview` and `gist` what each step shows, `forms` what it asks, `views`
and `apply` the pages. Whether a plan may be made, and why not, the domain alone decides; `devices` only looks ahead
which disks are worth offering, and says what the domain would.
"""
