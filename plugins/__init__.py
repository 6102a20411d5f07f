"""Platform integrations: one package a platform, each with a `PLATFORM` that fulfils `plugins.contract.Platform`."""
