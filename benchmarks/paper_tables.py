"""The figures that the Woodelf++ paper reports, as its authors measured them: not ours, and on other machines."""

from __future__ import annotations

__all__ = ["ANY_ORDER", "DEPTHS", "LARGE", "ROWS", "SMALL", "TASKS"]

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

ROWS = {"kdd": "4,898,431 x 127", "ieee": "472,432 x 397"}  # rows and columns of its tables

# Its first table: scikit-learn, FastPD, Woodelf++ on the CPU and on a GPU. A star marks an estimate of the authors; two
# stars: measured on an L4 in place of a T4.
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
                ("", "20 years*", "35 min", "45 s**"),
            ],
            strict=True,
        )
    ),
}

# Its table of depths 1 to 10, Woodelf++ on the CPU, in seconds.
DEPTHS = {
    "ieee": {
        "Exact PDP k=5": (3.3, 3.6, 4.3, 5.4, 7.2, 11.1, 17.7, 31.0, 60.2, 142.1),
        "Exact PDP k=100": (3.4, 3.7, 4.2, 5.4, 7.2, 10.8, 17.6, 30.1, 60.5, 142.7),
        "Exact full PDP": (0.9, 1.3, 2.0, 3.1, 5.0, 8.5, 15.7, 27.9, 58.9, 141.2),
        "Exact Joint-PDP k=5": (4.0, 4.4, 5.2, 6.3, 8.6, 12.9, 23.3, 47.8, 135.1, 445.7),
        "Approx. PDP k=5": (3.2, 3.7, 4.3, 5.4, 7.3, 10.7, 17.9, 29.8, 60.7, 144.0),
        "Approx. Joint-PDP k=5": (4.0, 4.1, 4.2, 4.6, 5.1, 6.5, 11.0, 24.9, 83.1, 325.0),
    },
    "kdd": {
        "Exact PDP k=5": (10.3, 13.7, 19.9, 29.5, 55.0, 81.8, 120.8, 182.2, 312.6, 502.5),
        "Exact PDP k=100": (10.6, 13.6, 19.9, 29.5, 54.0, 81.6, 120.0, 182.1, 307.9, 499.3),
        "Exact full PDP": (6.4, 9.9, 15.7, 25.5, 49.8, 77.7, 116.4, 179.2, 303.7, 495.8),
        "Exact Joint-PDP k=5": (10.3, 13.8, 19.9, 29.3, 53.9, 84.1, 124.6, 194.7, 358.9, 709.9),
        "Approx. PDP k=5": (10.3, 13.8, 19.6, 29.4, 53.7, 82.0, 121.6, 181.9, 300.4, 515.5),
        "Approx. Joint-PDP k=5": (8.3, 9.6, 11.2, 12.5, 14.2, 16.7, 21.0, 33.5, 82.8, 303.9),
    },
}

# Any-order PDIV of 10,000 rows by depth, in seconds, from the text below that table; depth 6 is from the first table.
ANY_ORDER = {
    "ieee": {6: 21.0, 7: 77.0, 8: 275.0, 9: 1242.0},
    "kdd": {6: 80.6, 7: 105.0, 8: 202.0, 9: 532.0},
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
