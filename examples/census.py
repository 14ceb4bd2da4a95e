"""A generated census: people with an income that follows, with some chance, from what they do."""

import pathlib

import numpy as np

COLUMNS = ["age", "workclass", "education", "education_num", "occupation", "hours_per_week", "native_country", "income"]
WORK = ["Private", "Self-employed", "Local-gov", "State-gov", "Federal-gov", "Never-worked"]
SCHOOLS = ["HS-grad", "Some-college", "Bachelors", "Masters", "Doctorate"]
JOBS = [f"{rank}-{trade}" for rank in ("Junior", "Senior", "Chief") for trade in ("clerk", "engineer", "farmer", "seller", "cook")]
COUNTRIES = [f"Country-{i}" for i in range(12)]


def _people(count, rng):
    age, hours = rng.randint(17, 85, count), rng.randint(5, 75, count)
    work, school, job, country = (rng.randint(0, len(kinds), count) for kinds in (WORK, SCHOOLS, JOBS, COUNTRIES))
    chance = 0.05 * (age - 40) * (age < 65) + 0.08 * (hours - 38) + 1.2 * (school - 2) + 1.5 * (job // 5 - 1) + (job % 5 == 1) - 6.0 * (work == 5)
    rich = rng.uniform(size=count) < 1 / (1 + np.exp(-1.5 * (chance - 1)))
    for i in range(count):
        yield [age[i], WORK[work[i]], SCHOOLS[school[i]], 9 + school[i], JOBS[job[i]], hours[i], COUNTRIES[country[i]], ">50K" if rich[i] else "<=50K"]


def write(folder, train=2000, test=500, seed=1):
    """Makes train.csv and test.csv, unless they are there, and says where they are."""
    folder = pathlib.Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    paths = []
    for i, (name, count) in enumerate([("train", train), ("test", test)]):
        path = folder / f"{name}.csv"
        paths.append(str(path))
        if path.exists():
            continue
        lines = [",".join(map(str, person)) + "\n" for person in _people(count, np.random.RandomState(seed + i))]
        # Several tasks may do this at once: each writes a file of its own, which then takes the name.
        own = path.with_name(f"{name}.{id(lines)}.{np.random.randint(1 << 30)}")
        own.write_text("".join(lines))
        own.replace(path)
    return paths
