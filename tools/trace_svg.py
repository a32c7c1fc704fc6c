#!/usr/bin/env python3
"""Draws the first core of one or more traces of `acraft run --trace` as one small SVG.

usage: tools/trace_svg.py OUT.svg TITLE=TRACE.json ...
"""
import json
import sys

ROWS = [("MTE2", "in"), ("V", "vector"), ("MTE3", "out")]
COLOURS = {"MTE2": "#4c78a8", "V": "#f58518", "MTE3": "#54a24b"}
WIDTH, LEFT, ROW, GAP = 720, 84, 20, 34


def load(path):
    events = json.load(open(path))["traceEvents"]
    names = {e["tid"]: e["args"]["name"] for e in events
             if e["ph"] == "M" and e["name"] == "thread_name" and e["pid"] == 0}
    runs = [(names[e["tid"]], e["ts"], e["dur"], e["name"]) for e in events
            if e["ph"] == "X" and e["pid"] == 0]
    return runs, max(ts + dur for _, ts, dur, _ in runs)


def main():
    out, traces = sys.argv[1], [a.split("=", 1) for a in sys.argv[2:]]
    loaded = [(title, *load(path)) for title, path in traces]
    longest = max(end for _, _, end in loaded)
    scale = (WIDTH - LEFT - 8) / longest
    height = len(loaded) * (len(ROWS) * ROW + GAP) + 6
    svg = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{height}" '
           f'font-family="sans-serif" font-size="12">',
           f'<rect width="{WIDTH}" height="{height}" fill="#ffffff"/>']
    top = 0
    for title, runs, end in loaded:
        svg.append(f'<text x="8" y="{top + 18}" font-weight="bold">{title}: {end:.1f} us</text>')
        for i, (pipe, label) in enumerate(ROWS):
            y = top + 26 + i * ROW
            svg.append(f'<text x="8" y="{y + 13}">{pipe} ({label})</text>')
            svg.append(f'<line x1="{LEFT}" y1="{y + ROW - 2}" x2="{WIDTH - 8}" y2="{y + ROW - 2}" stroke="#dddddd"/>')
            for p, ts, dur, name in runs:
                if p == pipe:
                    svg.append(f'<rect x="{LEFT + ts * scale:.1f}" y="{y + 2}" width="{max(dur * scale - 0.5, 0.5):.1f}" '
                               f'height="{ROW - 6}" fill="{COLOURS[pipe]}"><title>{name}, {dur:.2f} us</title></rect>')
        top += len(ROWS) * ROW + GAP
    svg.append("</svg>")
    open(out, "w").write("\n".join(svg) + "\n")


main()
