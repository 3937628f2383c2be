"""What the experiments share: how verdicts are counted."""

import pytest
from experiments.common import HOLDS, NOT, PART, claims_table

pytestmark = pytest.mark.core


def test_one_claim_holds_and_several_hold():
    rows = [["a", "", "", "", HOLDS], ["b", "", "", "", NOT], ["c", "", "", "", PART], ["d", "", "", "", PART]]
    said = claims_table(rows).splitlines()[-1]
    assert said == "Of 4 claims: 1 holds, 2 hold in part, 1 is not reproduced, 0 cannot be known."
