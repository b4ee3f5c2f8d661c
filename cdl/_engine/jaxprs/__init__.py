"""Jaxprs taken apart and put together: what depends on what, what is kept for a reverse pass, and which are the same.

| the question                                                  | where          |
| ------------------------------------------------------------- | -------------- |
| which equations are needed, and how is one of them mapped     | `_jaxprs`      |
| what can be computed before the rest is known                 | `_parts`       |
| what is the least to keep, so that the rest is cheap          | `_keep`        |
| what are the passes of a derivative that makes nothing twice  | `_passes`      |
| where may a slope be infinite                                 | `_slopes`      |
| how do rows come first in a product with a weight             | `_turned`      |
| which two compute the same, with other weights                | `_fingerprint` |
| which of their weights are one array, or rows of a stack      | `_stacks`      |
| which outputs does an input reach, by what has a derivative   | `_reach`       |
| how is one run without a gradient of what is not read         | `_gates`       |
| is a second derivative asked for in reverse mode              | `_one_reverse` |
"""
