"""The estimators: thin scikit-learn facades over the models, and what they share."""
