"""Platform integrations, one package a platform; README.md is the contract."""
