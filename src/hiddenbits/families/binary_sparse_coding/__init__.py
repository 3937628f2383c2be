"""Binary sparse coding (Henniges et al. 2010)."""
