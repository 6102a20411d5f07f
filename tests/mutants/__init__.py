"""Mutation tests: is there a test that fails for each small change of the code that must never be wrong?"""
