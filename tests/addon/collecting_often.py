"""Imported by Godot's Python at the start of a run that is watched for growth: circles are collected often.

In a game they are looked for among old objects when hundreds of characters have left. Here it looks often: what grows
then is held, not waiting.
"""
import gc

gc.freeze()
gc.collect()
gc.set_threshold(200, 5, 2)
