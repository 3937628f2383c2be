"""How fits go on from pass to pass: EM, climbs along the gradient, random steps."""
