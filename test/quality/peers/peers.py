"""Reads names as JSON from standard input, and writes what RapidFuzz and name-matching answer, each with its score.

In: a list of {"names": the names of a catalogue, "queries": names to look for in it}.
Out: for each way to use the two packages, for each catalogue, [index in names or null, score] for each query.
"""

import json
import sys

import pandas
from name_matching.name_matcher import NameMatcher
from rapidfuzz import fuzz, process, utils


def rapidfuzz_with(scorer):
    def answers(names, queries):
        options = {"scorer": scorer, "processor": utils.default_process}
        return [process.extractOne(query, names, **options)[:0:-1] for query in queries]

    return answers


def name_matching_with(metrics):
    def answers(names, queries):
        matcher = NameMatcher(number_of_matches=1, legal_suffixes=True, common_words=False, top_n=50, verbose=False)
        if metrics is not None:
            matcher.set_distance_metrics(metrics)
        matcher.load_and_process_master_data("name", pandas.DataFrame({"name": names}), transform=True)
        matches = matcher.match_names(pandas.DataFrame({"name": queries}), "name")
        found = zip(matches["match_index"], matches["score"])
        return [[None, 0] if pandas.isna(index) else [int(index), float(score)] for index, score in found]

    return answers


SCORERS = [fuzz.WRatio, fuzz.token_sort_ratio, fuzz.token_set_ratio]
WAYS = {
    **{f"rapidfuzz, {scorer.__name__}": rapidfuzz_with(scorer) for scorer in SCORERS},
    "name-matching, metrics of its page": name_matching_with(["bag", "typo", "refined_soundex"]),
    "name-matching, default metrics": name_matching_with(None),
}

if __name__ == "__main__":
    given = json.load(sys.stdin)
    json.dump({way: [answers(**catalogue) for catalogue in given] for way, answers in WAYS.items()}, sys.stdout)
