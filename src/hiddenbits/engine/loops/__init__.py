"""What a fit does from pass to pass: restarts and stages, EM, gradient ascent, random steps."""
