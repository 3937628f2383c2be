"""How fits continue from pass to pass: EM, climbs along the gradient, random steps."""
