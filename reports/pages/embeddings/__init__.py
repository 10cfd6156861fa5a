"""The page on embedding parameters and the reconciliation of Kaplan and Chinchilla."""
