"""The wizard: Pool → Devices → Layout → Preview → Apply → Proof.

`draft` holds the choices, `devices`, `layout` and `preview` what each step shows, `forms` what it asks, `views` the
pages. Whether a plan may be made, and why not, the domain alone decides; `devices` only looks ahead which disks are
worth offering, and says what the domain would.
"""
