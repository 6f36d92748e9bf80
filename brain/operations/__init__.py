"""Everything a user can do, one function per operation. Each takes an OpenVault first."""
