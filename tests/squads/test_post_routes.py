"""Paths of squad members to the positions of their tasks."""
from __future__ import annotations

import json

import numpy as np
import pytest

from ai_core.squads.post_routes import AGAIN_S, MOST_REQUESTS, PostRoutes


class Slow:
    """Routes whose searches end when ``is_open``; by way of a corner at (0, 5)."""

    def __init__(self):
        self.is_open, self.open, self.asked, self.loads, self.whys = True, [], 0, 0, ""

    def request(self, start, goal):
        self.asked += 1
        self.open.append(self.asked)
        return self.asked, start.copy(), goal.copy()

    def points(self, ticket):
        return np.array([ticket[1], [0.0, 5.0], ticket[2]]) if self.is_open else None

    def why(self, ticket):
        return self.whys

    def cancel(self, ticket):
        if ticket[0] in self.open:
            self.open.remove(ticket[0])

    def key(self, ticket):
        return ticket[0]

    def resumed(self, start, goal, key):
        return key, start, goal


POST, HERE = (10.0, 5.0), np.array([0.0, 0.0])


def kept(routes, now_s=0.0, here=HERE, post=POST, posts=None):
    posts = posts or PostRoutes(routes, 2)
    posts.keep({7: post}, {7: here}, now_s)
    return posts


def test_a_member_follows_the_corners_of_its_path():
    posts, here, seen = kept(Slow()), HERE.copy(), []
    for _ in range(400):
        ahead, ends = posts.ahead(7, here, POST)
        offset = np.array(ahead) - here
        here = here + offset * min(1.0, 0.05 / max(1e-9, float(np.linalg.norm(offset))))
        seen.append(here.copy())
    assert np.allclose(here, POST, atol=1e-6)
    assert ends
    assert min(np.hypot(*(one - (0.0, 5.0))) for one in seen) < 0.5


def test_a_member_without_a_path_goes_straight():
    routes = Slow()
    routes.is_open = False
    assert kept(routes).ahead(7, HERE, POST) == (POST, True)
    assert PostRoutes(routes, 2).ahead(7, HERE, POST) == (POST, True)


def test_requests_are_released_when_found_or_unwanted():
    routes = Slow()
    posts = kept(routes)
    assert (routes.asked, routes.open) == (1, [])
    routes.is_open = False
    kept(routes, AGAIN_S, posts=posts)
    assert (routes.asked, routes.open) == (2, [2])
    assert posts.ahead(7, HERE, POST) == ((0.0, 5.0), False), "the former path counts meanwhile"
    posts.keep({}, {}, 5.0)
    assert routes.open == []


@pytest.mark.parametrize(("now_s", "post", "asks"), [
    (0.5, (10.0, 30.0), False), (1.0, (10.0, 30.0), True), (1.0, (10.5, 5.0), False), (AGAIN_S, POST, True)])
def test_a_path_is_requested_again_seldom(now_s, post, asks):
    routes = Slow()
    kept(routes, now_s, post=post, posts=kept(routes))
    assert (routes.asked == 2) is asks


def test_a_post_that_is_near_needs_no_path():
    routes = Slow()
    kept(routes, post=(1.5, 0.0))
    assert routes.asked == 0


def test_requests_of_one_thought_are_bounded():
    routes = Slow()
    posts, many = PostRoutes(routes, 2), range(3 * MOST_REQUESTS)
    for _ in range(2):
        posts.keep(dict.fromkeys(many, POST), dict.fromkeys(many, HERE), 0.0)
    assert routes.asked == 2 * MOST_REQUESTS


def test_a_path_that_ends_before_its_post_is_explained():
    routes = Slow()
    routes.whys = "no path leads to (10, 5), only as near as (9, 5)"
    posts = kept(routes)
    assert (posts.why(7), posts.why(8)) == (routes.whys, "")


@pytest.mark.parametrize("is_open", [True, False])
def test_a_loaded_path_goes_on_as_the_saved_one(is_open):
    routes = Slow()
    routes.is_open = is_open
    posts = kept(routes)
    state = json.loads(json.dumps(posts.save_state()))
    routes.is_open, fresh = True, PostRoutes(routes, 2)
    fresh.prepare_state(state)()
    for one in (posts, fresh):
        kept(routes, 0.5, posts=one)
    assert fresh.save_state() == posts.save_state()
    assert fresh.ahead(7, HERE, POST) == posts.ahead(7, HERE, POST) == ((0.0, 5.0), False)


def test_a_load_releases_the_requests_of_before():
    routes = Slow()
    routes.is_open = False
    posts = PostRoutes(routes, 2)
    empty = posts.save_state()
    kept(routes, posts=posts)
    posts.prepare_state(empty)()
    assert routes.open == []
