"""The wizard: Pool → Devices → Layout → Preview → Apply → Proof.

`draft` holds the choices, `devices`, `layout` and `preview` what each step shows, `forms` what it asks, `views` the
pages. No rule is decided here: the domain is asked.
"""
