"""The second factor: codes, passkeys, and the step of the sign-in that asks for one."""
