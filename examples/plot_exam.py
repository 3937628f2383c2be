"""
An exam: how hard the questions are, and how able the students
==============================================================

500 students, 20 questions, 1 for a right answer; some students did not reach the last questions. The table comes along
with the package and is *simulated*. By default :class:`hiddenbits.ItemResponseModel` is the two-parameter model of item
response theory (2PL): a question has a difficulty and a discrimination, a student an ability.
"""

import matplotlib.pyplot as plt
import numpy as np

from hiddenbits import ItemResponseModel, evaluate, plots
from hiddenbits.datasets import load_exam

exam = load_exam()
model = ItemResponseModel(random_state=0).fit(exam)
print(f"{exam.shape[0]} students, {exam.shape[1]} questions, {exam.n_missing} blanks; the fit {model.stop_reason_}")

# %%
# The questions
# -------------
# Above: the chance of a right answer by ability. The steepest curves are colored. Below: where the questions tell
# students apart. There the standard error of an ability is smallest.

curves, information = plots.item_curves(model, exam)

# %%
# The easiest and the hardest questions:

discrimination = model.slopes_[:, 0]
difficulty = -model.intercepts_ / discrimination
for j in np.argsort(difficulty)[[0, 1, -2, -1]]:
    print(f"{exam.names[j]:4s} difficulty {difficulty[j]:5.2f}, discrimination {discrimination[j]:.2f}")

# %%
# The students
# ------------
# The number of right answers does not compare students who reached different questions; the ability does. Bars are two
# posterior standard deviations.

means, covariances = model.transform(exam, return_cov=True)
ability, error = means[:, 0], np.sqrt(covariances[:, 0, 0])
cells = exam.to_float()
right, reached = np.nansum(cells, axis=1), (~np.isnan(cells)).all(axis=1)
figure, ax = plt.subplots(figsize=(6, 4), layout="constrained")
for some, color, mark, name in ((reached, "#0072B2", "o", "all questions"), (~reached, "#D55E00", "s", "not all")):
    ax.errorbar(right[some], ability[some], 2 * error[some], fmt=mark, color=color, ms=3, elinewidth=0.5, alpha=0.6,
                label=name)  # fmt: skip
ax.set(xlabel="right answers", ylabel="ability")
ax.legend(title="students who reached", frameon=False)

# %%
# Is one ability enough?
# ----------------------
# Hide a tenth of the answers and predict them: nats an answer, smaller is better. A second dimension adds nothing.

for q in (1, 2):
    print(f"{q} dimensions: {evaluate.held_out_cells(ItemResponseModel(q, random_state=0), exam)}")
