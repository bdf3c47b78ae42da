"""The operations of the library: typed signatures, grouped by what they are about.

``measure`` reads and measures, ``explain`` says why it fails, ``decide`` compares and judges,
``pages`` gathers reports and charts, ``change`` compares two runs, ``truth`` makes and checks a
ground truth, ``history`` keeps evaluations, ``labels`` judges results, ``live`` asks retrievers and
models. The functions are thin: they read what is handed in and call the one function that holds the
rule. None of these modules loads numpy or polars before an operation runs. ``surface`` has the
table of all of them; a command loads only the file that it calls.
"""
