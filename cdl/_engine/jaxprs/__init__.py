"""Jaxprs taken apart and put together: what depends on what, what is kept for a reverse pass, and which are the same.

| the question                                             | where          |
| -------------------------------------------------------- | -------------- |
| what can be computed before the rest is known            | `_parts`       |
| what is the least to keep, so that the rest is cheap      | `_keep`        |
| which two compute the same, with other weights           | `_fingerprint` |
| which of their weights are one array, or rows of a stack | `_stacks`      |
| which outputs an input reaches by what has a derivative  | `_reach`       |
| may one row be computed beside others                    | `_rowwise`     |
"""
