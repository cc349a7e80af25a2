"""The figures that the Woodelf++ paper reports, as its authors measured them: not ours, and on other machines."""

from __future__ import annotations

__all__ = ["DEPTHS", "LARGE", "SMALL", "TASKS"]

TASKS = (
    "Exact PDP k=5",
    "Exact PDP k=10",
    "Exact PDP k=100",
    "Exact full PDP",
    "Exact Joint-PDP k=5",
    "Approx. PDP k=5",
    "Approx. Joint-PDP k=5",
    "Any-order PDIV n=10,000",
    "Any-order PDIV",
)

# Its first table: scikit-learn, FastPD, Woodelf++ on the CPU and on a GPU. A star marks an estimate of the authors.
LARGE = {
    "ieee": dict(
        zip(
            TASKS,
            [
                ("58.5 min", "99 s", "14.5 s", "13.1 s"),
                ("112.4 min", "99 s", "15.2 s", "10 s"),
                ("19 hours*", "99 s", "14.8 s", "9 s"),
                ("59.3 min", "98 s", "11.8 s", "7 s"),
                ("35 days*", "130 s", "19 s", "25 s"),
                ("3.3 s", "", "4.6 s", "5.4 s"),
                ("19.4 min", "", "10.2 s", "21.4 s"),
                ("", "6e4 years*", "21 s", "22.6 s"),
                ("", "2.9e6 years*", "275 s", "30.7 s"),
            ],
            strict=True,
        )
    ),
    "kdd": dict(
        zip(
            TASKS,
            [
                ("72.1 min", "520 s", "95.6 s", "33.4 s"),
                ("100.2 min", "519 s", "95.9 s", "33.5 s"),
                ("17 hours*", "519 s", "96.2 s", "33.6 s"),
                ("116.5 min", "519 s", "90.3 s", "26.8 s"),
                ("9 days*", "568 s", "95.2 s", "37.5 s"),
                ("5.5 s", "", "6.5 s", "8.7 s"),
                ("10.1 min", "", "21.6 s", "26 s"),
                ("", "15 days*", "80.6 s", "24 s"),
                ("", "20 years*", "35 min", "45 s"),
            ],
            strict=True,
        )
    ),
}

# Its table of depths 1 to 10, Woodelf++ on the KDD Cup data, in seconds.
DEPTHS = {
    "Exact PDP k=5": (10.3, 13.7, 19.9, 29.5, 55.0, 81.8, 120.8, 182.2, 312.6, 502.5),
    "Exact PDP k=100": (10.6, 13.6, 19.9, 29.5, 54.0, 81.6, 120.0, 182.1, 307.9, 499.3),
    "Exact full PDP": (6.4, 9.9, 15.7, 25.5, 49.8, 77.7, 116.4, 179.2, 303.7, 495.8),
    "Exact Joint-PDP k=5": (10.3, 13.8, 19.9, 29.3, 53.9, 84.1, 124.6, 194.7, 358.9, 709.9),
    "Approx. PDP k=5": (10.3, 13.8, 19.6, 29.4, 53.7, 82.0, 121.6, 181.9, 300.4, 515.5),
    "Approx. Joint-PDP k=5": (8.3, 9.6, 11.2, 12.5, 14.2, 16.7, 21.0, 33.5, 82.8, 303.9),
}

# Its table of small data sets: the best other method (scikit-learn for PDP, FastPD for PDIV) and Woodelf++, in seconds.
_SMALL_TASKS = (*TASKS[:7], "Any-order PDIV")
SMALL = {
    "diabetes": dict(
        zip(
            _SMALL_TASKS,
            [(0.25, 0.39), (0.4, 0.36), (2.73, 0.4), (1.26, 0.44), (3.53, 0.72), (0.02, 0.4), (0.1, 0.52), (0.3, 0.92)],
            strict=True,
        )
    ),
    "cancer": dict(
        zip(
            _SMALL_TASKS,
            [
                (0.67, 0.4),
                (1.34, 0.39),
                (12.19, 0.42),
                (3.06, 0.45),
                (46.03, 0.7),
                (0.05, 0.45),
                (1.05, 0.49),
                (4.34, 1.32),
            ],
            strict=True,
        )
    ),
    "housing": dict(
        zip(
            _SMALL_TASKS,
            [
                (2.29, 1.7),
                (4.14, 1.74),
                (38.63, 1.64),
                (63.07, 1.9),
                (36.84, 3.03),
                (0.03, 1.72),
                (0.12, 1.81),
                (34.98, 6.35),
            ],
            strict=True,
        )
    ),
}
