"""Imported by Godot's Python at the start of a run that is watched for growth: circles are collected often.

Python looks for them among old objects every 30,000 frames of the museum or so, and only when those have grown by a
quarter. Here what was there at the start is left out, and it looks often: what grows then is held, not waiting.
"""
import gc

gc.freeze()
gc.collect()
gc.set_threshold(200, 5, 2)
