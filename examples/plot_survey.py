"""
A survey: kinds of people behind yes and no
===========================================

1,200 people answer twelve yes/no questions about how they travel; some leave answers blank. The table is *simulated*,
so that the truth is known: three kinds of people, who answer each question independently. This is latent class
analysis: :class:`hiddenbits.LatentClassAnalysis`.
"""

from itertools import pairwise

import matplotlib.pyplot as plt
import numpy as np

from hiddenbits import LatentClassAnalysis, evaluate, open_table, plots

QUESTIONS = {  # how often in ten drivers, cyclists and commuters by train say yes
    "owns a car": (10, 3, 6),
    "drives every day": (8, 0, 2),
    "parking is too dear": (7, 1, 4),
    "petrol is too dear": (8, 2, 5),
    "has a bicycle": (4, 10, 5),
    "cycles to work": (0, 8, 1),
    "wants more cycle lanes": (3, 9, 5),
    "has a rail card": (1, 4, 9),
    "trains are too late": (3, 4, 8),
    "reads on the way": (0, 0, 7),
    "lives in town": (4, 8, 5),
    "likes the weather": (5, 5, 5),
}
rng = np.random.default_rng(0)
often = np.array(list(QUESTIONS.values())) / 10
kind = rng.choice(3, 1200, p=[0.5, 0.2, 0.3])
answers = (rng.random((1200, 12)) < often.T[kind]).astype(float)
answers[rng.random(answers.shape) < 0.05] = np.nan
survey = open_table(answers, names=QUESTIONS)
print(f"{survey.shape[0]:,} people, {survey.shape[1]} questions, {np.isnan(answers).mean():.1%} blanks")

# %%
# How many kinds?
# ---------------
# BIC of fits by maximum likelihood: smaller is better.

bics = {}
for k in range(1, 6):
    bics[k] = LatentClassAnalysis(k, prior_strength=0, random_state=0).fit(survey).bic(survey)
    print(f"{k} classes: BIC {bics[k]:,.0f}")

# %%
# Who they are
# ------------
# A line is a question, from the class that says yes least often to the one that does most often.

model = LatentClassAnalysis(min(bics, key=bics.get), random_state=0).fit(survey)
ax = plots.profiles(model, survey)

# %%
# Which kind is a person?
# -----------------------
# The most probable class of each person, against the truth, which the fit has not seen. Classes have no order of their
# own, and no names: these are ours.

found = model.predict(survey)
for true, name in enumerate(("drivers", "cyclists", "by train")):
    print(f"{name:9s}", np.bincount(found[kind == true], minlength=len(model.weights_)))

# %%
# Somebody who answers few questions belongs to several classes to some degree. What the model is sure of, it is right
# about: of the people with a probability near .8, about 80% are of that kind.

sure = model.transform(survey).max(axis=1)
kinds = np.array([np.bincount(kind[found == k]).argmax() for k in range(len(model.weights_))])
right = kinds[found] == kind
edges = np.array([0.5, 0.7, 0.8, 0.9, 0.97, 1.0001])
inside = [(sure >= low) & (sure < high) for low, high in pairwise(edges)]
figure, ax = plt.subplots(figsize=(5, 4), layout="constrained")
share = np.array([right[some].mean() for some in inside])
error = [np.sqrt(p * (1 - p) / some.sum()) for p, some in zip(share, inside, strict=True)]
ax.axline((0.5, 0.5), slope=1, color="#8c8c8c", linewidth=1)
ax.errorbar([sure[some].mean() for some in inside], share, error, fmt="o", color="#0072B2")
ax.set(xlabel="probability of the most probable class", ylabel="share of people of that kind")

# %%
# Blanks
# ------
# ``complete`` fills them in with P(yes). How good is that? Hide a tenth of the answers and ask for them: nats an
# answer, smaller is better.

for contender in (LatentClassAnalysis(1), LatentClassAnalysis(3, random_state=0)):
    print(f"{contender.n_components} classes: {evaluate.held_out_cells(contender, survey)}")
