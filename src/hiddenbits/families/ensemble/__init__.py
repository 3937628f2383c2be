"""Several fitted estimators as one."""
