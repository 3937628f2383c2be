"""Item response models: one to three latent dimensions behind items of every type."""
