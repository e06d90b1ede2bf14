"""A plain mind of rules to compare with: everything is worked out anew at every step."""
from __future__ import annotations


class ReferenceMind:
    """Grades are worked out from the text by Python itself.

    Args:
        rules: dicts with name, when, salience, above, repeats, concludes, sets.
        facts: grades of the facts that are set.
    """

    def __init__(self, rules, facts, parameters):
        self.rules, self.facts, self.parameters = rules, dict(facts), dict(parameters)
        self.moment, self.thought = 0, 0
        self.changed = {}
        self.fired = {}
        self.conclude()

    def grade(self, when):
        if not when:
            return 1.0
        words = when.replace("(", "( ").replace(")", " )").split()
        if ">" in words:
            return 1.0 if self.value(words[0]) > self.value(words[2]) else 0.0
        for word, join in (("and", min), ("or", max)):
            if word in words:
                return join(self.grade(part) for part in when.split(f" {word} "))
        return 1.0 - self.value(words[1]) if words[0] == "not" else self.value(words[0])

    def value(self, word):
        known = {**self.facts, **self.parameters}
        return known[word] if word in known else float(word)

    def put(self, fact, grade):
        if self.facts.get(fact, 0.0) != grade:
            self.moment += 1
            self.changed[fact] = self.moment
        self.facts[fact] = grade

    def conclude(self):
        concluded = sorted({rule["concludes"] for rule in self.rules if rule["concludes"]})
        for fact in concluded:  # in the order they follow from each other, by the test's names
            self.facts.setdefault(fact, 0.0)
            self.put(fact, max(self.grade(r["when"]) for r in self.rules if r["concludes"] == fact))

    def think(self, most):
        self.thought += 1
        fired = []
        while len(fired) < most:
            self.conclude()
            could = []
            for number, rule in enumerate(self.rules):
                grade = self.grade(rule["when"])
                if not rule["concludes"] and grade > rule["above"] and self.is_fresh(rule):
                    could.append((-self.value(str(rule["salience"])), -grade, number))
            if not could:
                break
            _, grade, number = min(could)
            rule = self.rules[number]
            self.fired[rule["name"]] = self.moment, self.thought
            fired.append((rule["name"], -grade))
            if rule["sets"]:
                self.put(*rule["sets"])
        return fired

    def is_fresh(self, rule):
        if rule["name"] not in self.fired:
            return True
        at_moment, in_thought = self.fired[rule["name"]]
        if rule["repeats"] and in_thought != self.thought:
            return True
        words = rule["when"].split()
        return any(self.changed.get(word, -1) > at_moment for word in words)
