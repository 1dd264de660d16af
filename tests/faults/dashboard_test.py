# SPDX-License-Identifier: Apache-2.0
"""docs/grafana-dashboard.json, as far as it can be checked without Grafana: its panels, and that its queries ask for
what a worker exports, in PromQL that Prometheus takes."""
import json
import os
import re
import shutil
import subprocess
import tempfile
import unittest

import metrics_test
from harness import BUILD, FaultTest, MIB, Worker, main

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
COLUMNS = 24
# What Grafana puts into a query, and words for them that Prometheus takes.
VARIABLES = {"$job": ".*", "$instance": ".*", "$__rate_interval": "1m", "$__range": "1h"}
# Labels that Prometheus gives.
SCRAPED_LABELS = {"job", "instance"}
SELECTOR = re.compile(r"(hip_remote_\w+)\s*(?:\{([^}]*)\})?")
MATCHER = re.compile(r'(\w+)\s*(?:=~|!~|!=|=)\s*"([^"]*)"')
GROUPED = re.compile(r"\bby \(([^)]*)\)")
LEGEND = re.compile(r"\{\{\s*(\w+)\s*\}\}")
# Families of SMI values: only those that are known are exported, and this host does not know all of them.
SERIES = re.compile(r'Series \w+\{Type::\w+, "(\w+)",\s*"[^"]*"(?:,\s*"(\w+)")?\}')


def load():
    with open(os.path.join(ROOT, "docs", "grafana-dashboard.json"), encoding="utf-8") as file:
        return json.load(file)


def grouped_by(query):
    """Labels that an aggregation keeps; empty: none, or there is no aggregation by labels."""
    grouped = GROUPED.search(query)
    return set(grouped.group(1).replace(" ", "").split(",")) if grouped else set()


def queries(dashboard):
    """(title, target) of each query of a panel."""
    return [(panel["title"], target) for panel in dashboard["panels"] for target in panel["targets"]]


def filled(query):
    for name, value in VARIABLES.items():
        query = query.replace(name, value)
    return query


def families_of_devices():
    """{name: labels} of SMI values, as the supervisor's source has them."""
    with open(os.path.join(ROOT, "worker", "supervisor", "smi_families.cc"), encoding="utf-8") as source:
        return {"hip_remote_smi_" + name: {"device", "pci"} | ({label} if label else set())
                for name, label in SERIES.findall(source.read())}


class Panels(unittest.TestCase):
    def setUp(self):
        self.dashboard = load()

    def test_panels_have_numbers_titles_units_and_queries_of_their_own(self):
        panels = self.dashboard["panels"]
        self.assertGreater(len(panels), 20)
        for what in ("id", "title"):
            self.assertEqual(len({panel[what] for panel in panels}), len(panels), what)
        for panel in panels:
            self.assertTrue(panel["fieldConfig"]["defaults"].get("unit"), panel["title"])
            references = [target["refId"] for target in panel["targets"]]
            self.assertTrue(references, panel["title"])
            self.assertEqual(len(set(references)), len(references), panel["title"])
            for each in (panel, *panel["targets"]):
                self.assertEqual(each["datasource"], {"type": "prometheus", "uid": "${datasource}"}, panel["title"])

    def test_units_are_those_of_the_metrics(self):
        units = {"bytes": ("bytes", "Bps"), "seconds": ("s",), "watts": ("watt",), "celsius": ("celsius",),
                 "hertz": ("hertz",), "ratio": ("percentunit",)}
        for panel in self.dashboard["panels"]:
            for target in panel["targets"]:
                names = {name for name, _ in SELECTOR.findall(target["expr"])}
                for name in names:
                    word = re.sub(r"_(total|bucket)$", "", name).rsplit("_", 1)[-1]
                    wanted = units.get(word)
                    if wanted is None:
                        continue
                    if "bytes" in word:
                        wanted = ("Bps",) if "rate(" in target["expr"] else ("bytes",)
                        wanted = ("percentunit",) if " / " in target["expr"] else wanted
                    self.assertIn(panel["fieldConfig"]["defaults"]["unit"], wanted, panel["title"])

    def test_no_panel_lies_on_another(self):
        taken = {}
        for panel in self.dashboard["panels"]:
            place = panel["gridPos"]
            self.assertLessEqual(place["x"] + place["w"], COLUMNS, panel["title"])
            self.assertTrue(min(place["x"], place["y"]) >= 0 and min(place["w"], place["h"]) > 0, panel["title"])
            for column in range(place["x"], place["x"] + place["w"]):
                for row in range(place["y"], place["y"] + place["h"]):
                    self.assertNotIn((column, row), taken, f"{panel['title']} on {taken.get((column, row))}")
                    taken[(column, row)] = panel["title"]

    def test_variables_are_there(self):
        there = {variable["name"] for variable in self.dashboard["templating"]["list"]}
        for title, target in queries(self.dashboard):
            used = set(re.findall(r"\$(\w+)", target["expr"]))
            self.assertLessEqual(used, there | {"__rate_interval", "__range"}, title)
            self.assertLessEqual({"job", "instance"}, used, f"{title} does not obey the choice of workers")

    def test_legends_name_labels_that_the_query_keeps(self):
        for title, target in queries(self.dashboard):
            legend = set(LEGEND.findall(target["legendFormat"]))
            if re.match(r"(topk\(\d+, )?(sum|max|histogram_quantile)\b", target["expr"]):
                self.assertLessEqual(legend, grouped_by(target["expr"]), title)

    @unittest.skipUnless(shutil.which("promtool"), "no promtool (Debian: prometheus), so PromQL is not parsed")
    def test_prometheus_takes_the_queries(self):
        rules = [{"record": f"panel_{index}", "expr": filled(target["expr"])}
                 for index, (_, target) in enumerate(queries(self.dashboard))]
        with tempfile.NamedTemporaryFile("w", suffix=".yml", encoding="ascii") as file:
            json.dump({"groups": [{"name": "dashboard", "rules": rules}]}, file)  # JSON is YAML
            file.flush()
            checked = subprocess.run(["promtool", "check", "rules", file.name], text=True, timeout=60,
                                     capture_output=True, check=False)
        self.assertEqual(checked.returncode, 0, checked.stdout + checked.stderr)
        self.assertIn(f"{len(rules)} rules found", checked.stdout)


@unittest.skipUnless(os.path.exists(os.path.join(BUILD, "lib", "libhip_worker_metrics.so")),
                     "prometheus-cpp was not there when this was built")
class Queries(FaultTest):
    def exported(self):
        """{name: {label: values}} of a worker that has served a client, with the SMI values of this host."""
        found = {}
        with Worker("--metrics", "0", environment={"TF_SMI_RUNTIME": "host"}) as worker:
            where = re.search(r"metrics at (http://127\.0\.0\.1:\d+)/metrics", worker.log()).group(1)
            with worker.client("tcp", "hold", 4 * MIB) as client:
                client.expect("holding")
                for name, labels in metrics_test.parse(metrics_test.get(where)[1]):
                    values = found.setdefault(name, {})
                    for label, value in labels:
                        values.setdefault(label, set()).add(value)
        return found

    def setUp(self):
        super().setUp()
        self.dashboard, self.metrics, devices = load(), self.exported(), families_of_devices()
        for name, labels in self.metrics.items():
            if name.startswith("hip_remote_smi_"):
                self.assertEqual(devices[name], set(labels), f"{name}: smi_families.cc was not read rightly")
        for name, labels in devices.items():
            self.metrics.setdefault(name, {label: set() for label in labels})

    def test_they_ask_for_what_a_worker_exports(self):
        asked = [(variable["name"], variable["query"]["query"]) for variable in self.dashboard["templating"]["list"]
                 if variable["type"] == "query"]
        asked += [(title, target["expr"]) for title, target in queries(self.dashboard)]
        for title, query in asked:
            selectors = SELECTOR.findall(query)
            self.assertTrue(selectors, title)
            for name, matchers in selectors:
                self.assertIn(name, self.metrics, title)
                known = self.metrics[name]
                for label, value in MATCHER.findall(matchers):
                    self.assertIn(label, set(known) | SCRAPED_LABELS, f"{title}: {name}")
                    if label in known and not value.startswith("$"):
                        self.assertIn(value, known[label], f"{title}: {name}, {label}")
                for label in grouped_by(query):
                    self.assertIn(label, set(known) | SCRAPED_LABELS, f"{title}: {name}")

    def test_legends_name_labels_that_there_are(self):
        for title, target in queries(self.dashboard):
            known = set().union(*(self.metrics[name] for name, _ in SELECTOR.findall(target["expr"])))
            for label in LEGEND.findall(target["legendFormat"]):
                self.assertIn(label, known | SCRAPED_LABELS, title)


if __name__ == "__main__":
    main()
