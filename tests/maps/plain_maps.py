"""Blur, spread, decay and combination by loops over cells, as a textbook prints them."""
from __future__ import annotations


def blurred(values):
    """One pass: a cell 4 sixteenths, those beside it 2, those at its corners 1; the edge repeats itself."""
    height, width = len(values), len(values[0])

    def at(row, column):
        return values[min(max(row, 0), height - 1)][min(max(column, 0), width - 1)]

    return [
        [
            sum((2 - abs(down)) * (2 - abs(right)) * at(row + down, column + right)
                for down in (-1, 0, 1) for right in (-1, 0, 1)) / 16
            for column in range(width)
        ]
        for row in range(height)
    ]


def blurred_within_walls(values, is_open):
    """One pass: columns, then rows; what a wall or the edge holds up stays where it is."""
    height, width = len(values), len(values[0])

    def one_way(cells, steps):
        def at(row, column, step):
            other = row + step[0], column + step[1]
            is_inside = 0 <= other[0] < height and 0 <= other[1] < width
            return other if is_inside and is_open[row][column] and is_open[other[0]][other[1]] else (row, column)

        return [
            [sum(cells[r][c] for r, c in ((row, column), (row, column), *(at(row, column, one) for one in steps))) / 4
             for column in range(width)]
            for row in range(height)
        ]

    return one_way(one_way(values, ((-1, 0), (1, 0))), ((0, -1), (0, 1)))


def spread(values, kept, is_open):
    """The strongest that reaches a cell by steps along rows and columns, until nothing changes."""
    height, width = len(values), len(values[0])
    found = [[values[r][c] if is_open[r][c] else 0.0 for c in range(width)] for r in range(height)]
    changes = True
    while changes:
        changes = False
        for row in range(height):
            for column in range(width):
                for r, c in ((row - 1, column), (row + 1, column), (row, column - 1), (row, column + 1)):
                    is_inside = is_open[row][column] and 0 <= r < height and 0 <= c < width
                    if is_inside and found[r][c] * kept > found[row][column]:
                        found[row][column] = found[r][c] * kept
                        changes = True
    return found


def decayed(values, kept_per_s, grows_per_s, passed_s, most):
    return [[min(one * kept_per_s**passed_s + grows_per_s * passed_s, most) for one in row] for row in values]


def combined(layers, weights):
    height, width = len(layers[0]), len(layers[0][0])
    return [
        [sum(weight * layer[row][column] for layer, weight in zip(layers, weights, strict=True))
         for column in range(width)]
        for row in range(height)
    ]
