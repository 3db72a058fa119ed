"""What a plug-in tests itself with: suites for a Registry and a checker. It needs pytest."""

import pytest

from gitops.recursion_limit import raise_recursion_limit

# Only then does pytest show the values in a failed assertion, as in a file of tests.
pytest.register_assert_rewrite(
    "gitops.testing.checker_contract", "gitops.testing.registry_contract"
)
raise_recursion_limit()
