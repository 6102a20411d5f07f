"""Readers of foreign bytes, and what they are fed with: `readers` names them all, `guided` lets coverage guide it."""
