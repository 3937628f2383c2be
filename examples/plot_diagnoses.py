"""
Codes of diagnoses: diseases behind them
========================================

3,000 patients and 25 codes in their records. The table is *simulated*: six diseases, any number of which a patient may
have, and each brings some of its codes. In a :class:`hiddenbits.NoisyOrNetwork` one disease is enough for a code, and a
code that is missing from the record speaks against every disease that would have brought it.
"""

import matplotlib.pyplot as plt
import numpy as np

from hiddenbits import LatentClassAnalysis, NoisyOrNetwork, evaluate, open_table, plots

DISEASES = {  # how often, and P(code) because of it
    "diabetes": (0.12, {"glucose": 0.9, "insulin": 0.5, "neuropathy": 0.3, "retinopathy": 0.3, "kidney": 0.25}),
    "heart failure": (0.10, {"dyspnoea": 0.8, "oedema": 0.7, "diuretic": 0.8, "fatigue": 0.5, "kidney": 0.3}),
    "COPD": (0.10, {"dyspnoea": 0.8, "cough": 0.7, "smoker": 0.7, "inhaler": 0.8, "fatigue": 0.3}),
    "depression": (0.13, {"insomnia": 0.6, "fatigue": 0.6, "low mood": 0.9, "antidepressant": 0.6}),
    "arthritis": (0.15, {"joint pain": 0.9, "stiffness": 0.6, "painkiller": 0.7, "swelling": 0.5}),
    "anaemia": (0.08, {"low iron": 0.9, "pallor": 0.5, "fatigue": 0.7, "dizziness": 0.5}),
}
ALONE = ("flu shot", "fracture", "rash")  # codes that no disease brings
codes = list(dict.fromkeys([code for _, brings in DISEASES.values() for code in brings] + list(ALONE)))
rng = np.random.default_rng(0)
often = np.array([share for share, _ in DISEASES.values()])
strength = np.array([[brings.get(code, 0.0) for code in codes] for _, brings in DISEASES.values()])
has = rng.random((3000, len(DISEASES))) < often
X = (rng.random((3000, len(codes))) < 1 - 0.98 * np.exp(has @ np.log1p(-strength))).astype(np.uint8)
records = open_table(X, names=codes)
print(f"{X.shape[0]:,} patients, {X.shape[1]} codes, {X.mean():.1%} ones")

# %%
# The causes that were found
# --------------------------
# The wider a line, the more often the cause brings the code.

model = NoisyOrNetwork(6, random_state=0).fit(records)
ax = plots.causes(model, records, links=5)

# %%
# Next to the truth, each disease with the cause most like it:

overlap = np.abs(model.strengths_[:, None] - strength).sum(axis=2)
order = overlap.argmin(axis=0)
print(f"{len(set(order))} of {len(DISEASES)} diseases have a cause of their own")
figure, axes = plt.subplots(1, 2, figsize=(9, 3.2), sharey=True, layout="constrained")
for ax, matrix, title in zip(axes, (strength, model.strengths_[order]), ("true", "found"), strict=True):
    image = ax.imshow(matrix, aspect="auto", cmap="viridis", vmin=0, vmax=1)
    ax.set_title(title)
    ax.set_xticks(range(len(codes)), codes, rotation=90, fontsize=7)
axes[0].set_yticks(range(len(DISEASES)), DISEASES)
figure.colorbar(image, ax=axes, label="P(code because of it)")

# %%
# One patient
# -----------
# The patient with the most diseases: which causes are likely on, and what each is there for. Two diseases are missed:
# each of them brought this patient only one code that no other disease brings.

patient = int(np.argmax(has.sum(axis=1)))
print("truth:", ", ".join(np.array(list(DISEASES))[has[patient]]))
print(model.explain(open_table(X[[patient]], names=codes), what="patient")[0])

# %%
# A class for each patient would not do
# -------------------------------------
# Patients with two diseases need a class of their own. Hide a tenth of the cells and predict them, in nats a cell,
# smaller is better:

for contender in (LatentClassAnalysis(6, random_state=0), NoisyOrNetwork(6, random_state=0)):
    print(f"{type(contender).__name__:17s}", evaluate.held_out_cells(contender, records))
