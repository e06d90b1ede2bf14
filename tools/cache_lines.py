"""The command lines: how many cache lines one frame of AI touches.

At 60 frames a second the caches hold nothing of the frame before, so what a frame costs is the number of lines that
it fetches, some 60 ns each, more than what it computes. The number does not depend on what else the machine does.
The main thread of Godot is stopped before a frame and stepped through it, instruction by instruction.
"""
from __future__ import annotations

import argparse
import ctypes
import os
import platform
import signal
import subprocess
import sys
from bisect import bisect_right
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from tools import preparation
from tools.environment import install_group
from tools.godot_engine import GodotEngine, find_or_fetch
from tools.progress import StepFailed

ROOT = Path(__file__).resolve().parents[1]

SCENE = "res://tests/benchmarks/cache_lines/one_frame.tscn"
MODULE = "tests.benchmarks.cache_lines.frame_marks"

WORKS = ("nothing", "scheduler", "senses", "ours", "hand")
"""What a frame does: a call; an AIScheduler without work; guards that sense; guards with habits; guards by hand."""

LINE_BITS = 6
"""Bits of an address within a cache line."""

LONGEST_INSTRUCTION = 15
"""Bytes of the longest instruction (count)."""

LONGEST_S = 600
"""Time after which a run is given up (s); 100 guards take two minutes."""

ARGUMENTS: list[tuple[list[str], dict[str, Any]]] = [
    (["work"], {"nargs": "*", "metavar": "WORK", "help": f"some of: {', '.join(WORKS)} (all)"}),
    (["--guards"], {"type": int, "default": 1, "metavar": "N", "help": "number of guards (1)"}),
    (["--frame"], {"type": int, "default": 140, "metavar": "N", "help": "frames played before (140)"}),
    (["--phases"], {"nargs": "*", "default": [], "metavar": "MODULE:NAME",
                    "help": "functions to count apart, such as ai_core.scheduling.scheduler:Scheduler.advance"}),
    (["--top"], {"type": int, "default": 0, "metavar": "N", "help": "C functions listed for each phase (0)"}),
]

REGISTERS = (
    "r15", "r14", "r13", "r12", "rbp", "rbx", "r11", "r10", "r9", "r8", "rax", "rcx", "rdx", "rsi", "rdi", "orig_rax",
    "rip", "cs", "eflags", "rsp", "ss", "fs_base", "gs_base", "ds", "es", "fs", "gs")
"""Of a thread, in the order of the system's ``user_regs_struct``."""

ATTACH, DETACH, STEP, GET_REGISTERS = 16, 17, 9, 12       # requests of ptrace
GETPGID, GETPPID = 121, 110                               # system calls by which the scene marks frame and phases
WAIT_ALL = 0x40000000                                     # for waitpid: threads of any kind


class Registers(ctypes.Structure):
    """Registers of a thread."""

    _fields_ = [(name, ctypes.c_ulonglong) for name in REGISTERS]


class Memory(NamedTuple):
    """An operand in memory: the sum of a register, a scaled register and an offset; "" for no register."""

    base: str
    scaled: str
    scale: int
    offset: int
    is_of_thread: bool


class Instruction(NamedTuple):
    """What is known of the instruction at an address."""

    size: int
    operands: list[Memory]
    is_system_call: bool


class Mapping(NamedTuple):
    """A range of addresses, and the file that is mapped there."""

    first: int
    end: int
    offset: int
    file: str


@dataclass
class Phase:
    """What one phase of a frame touched first: addresses of code, and the code that touched data."""

    instructions: int = 0
    code: list[int] = field(default_factory=list)
    data: list[int] = field(default_factory=list)


class Footprint:
    """Counts the cache lines of a frame; a line counts in the phase that touches it first."""

    def __init__(self) -> None:
        self.phases = [Phase()]
        self._code: set[int] = set()
        self._data: set[int] = set()

    def begin_phase(self) -> None:
        """Count what follows in another phase."""
        self.phases.append(Phase())

    def note(self, at: int, size: int, addresses: list[int]) -> None:
        """Count an instruction, and the addresses in memory that it uses."""
        phase = self.phases[-1]
        phase.instructions += 1
        for line in (at >> LINE_BITS, (at + size - 1) >> LINE_BITS):
            if line not in self._code:
                self._code.add(line)
                phase.code.append(at)
        for address in addresses:
            if address >> LINE_BITS not in self._data:
                self._data.add(address >> LINE_BITS)
                phase.data.append(at)

    def sums(self) -> tuple[int, int, int]:
        """Return the lines of code, those of data, and the instructions of the whole frame."""
        return len(self._code), len(self._data), sum(one.instructions for one in self.phases)


class SteppedThread:
    """The main thread of a stopped process, stepped through its instructions.

    Args:
        process_id: a child of this process that has stopped itself.
    """

    def __init__(self, process_id: int) -> None:
        self._id, self._registers = process_id, Registers()
        self._libc = ctypes.CDLL(None, use_errno=True)
        self._libc.ptrace.argtypes = [ctypes.c_long, ctypes.c_long, ctypes.c_void_p, ctypes.c_void_p]
        self._libc.ptrace.restype = ctypes.c_long
        self._ask(ATTACH)
        os.waitpid(process_id, WAIT_ALL)
        os.kill(process_id, signal.SIGCONT)
        self._memory = os.open(f"/proc/{process_id}/mem", os.O_RDONLY)
        self._decode = _decoder()
        self._known: dict[int, Instruction] = {}

    def mappings(self) -> list[Mapping]:
        """Return the mapped ranges of addresses, ascending."""
        found = []
        for line in Path(f"/proc/{self._id}/maps").read_text(encoding="utf-8").splitlines():
            parts = line.split(maxsplit=5)
            first, end = (int(one, 16) for one in parts[0].split("-"))
            found.append(Mapping(first, end, int(parts[2], 16), parts[5] if len(parts) > 5 else ""))
        return found

    def follow(self) -> Footprint:
        """Return the footprint of what runs between the two marks of a frame."""
        footprint, has_begun, registers = Footprint(), False, self._registers
        while True:
            self._ask(STEP)
            _, status = os.waitpid(self._id, WAIT_ALL)
            if not os.WIFSTOPPED(status):
                raise StepFailed("lines", "Godot ended before the frame did", "run the scene without stepping")
            if os.WSTOPSIG(status) != signal.SIGTRAP:
                continue        # the signal that let the process go on
            self._ask(GET_REGISTERS, ctypes.addressof(registers))
            at = registers.rip
            instruction = self._known.get(at)
            if instruction is None:
                instruction = self._known[at] = self._decode(os.pread(self._memory, LONGEST_INSTRUCTION, at), at)
            if instruction.is_system_call and registers.rax == GETPGID:
                if has_begun:
                    return footprint
                has_begun = True
            elif instruction.is_system_call and registers.rax == GETPPID and has_begun:
                footprint.begin_phase()
            elif has_begun:
                footprint.note(at, instruction.size, [self._address(one, at) for one in instruction.operands])

    def leave(self) -> None:
        """Let the process run on."""
        os.close(self._memory)
        self._ask(DETACH)

    def _address(self, operand: Memory, at: int) -> int:
        registers = self._registers
        address = operand.offset
        if operand.base:
            address += getattr(registers, operand.base)
        if operand.scaled:
            address += getattr(registers, operand.scaled) * operand.scale
        if operand.is_of_thread:
            address += registers.fs_base
        return address & (1 << 64) - 1

    def _ask(self, request: int, data: int = 0) -> None:
        if self._libc.ptrace(request, self._id, 0, data) < 0:
            raise OSError(ctypes.get_errno(), f"ptrace {request} was refused")


def _decoder() -> Any:
    """Return a function that decodes the instruction at the start of some bytes and its address."""
    import capstone  # of an optional group
    from capstone import x86

    machine = capstone.Cs(capstone.CS_ARCH_X86, capstone.CS_MODE_64)
    machine.detail = True
    implied = {"push": -8, "call": -8, "pop": 0, "ret": 0}

    def register(number: int) -> str:
        name = str(machine.reg_name(number)) if number else ""
        if name.startswith("e"):        # the lower half
            name = "r" + name[1:]
        return name.removesuffix("d") if name.startswith("r") and name[1:-1].isdigit() else name

    def decode(code: bytes, at: int) -> Instruction:
        found = next(machine.disasm(code, at, 1), None)
        if found is None:
            return Instruction(1, [], False)
        operands = []
        for one in found.operands:
            if one.type == x86.X86_OP_MEM and found.mnemonic not in ("lea", "nop"):
                base, offset = register(one.mem.base), one.mem.disp
                if base == "rip":
                    base, offset = "", offset + at + found.size
                operands.append(Memory(
                    base, register(one.mem.index), one.mem.scale, offset, machine.reg_name(one.mem.segment) == "fs"))
        if found.mnemonic in implied:
            operands.append(Memory("rsp", "", 1, implied[found.mnemonic], False))
        return Instruction(found.size, operands, found.mnemonic == "syscall")

    return decode


class Symbols:
    """Names of C functions by address.

    Args:
        mappings: of the process, ascending.
    """

    def __init__(self, mappings: list[Mapping]) -> None:
        self._mappings, self._firsts = mappings, [one.first for one in mappings]
        self._base: dict[str, int] = {}
        for one in mappings:
            self._base[one.file] = min(self._base.get(one.file, one.first), one.first - one.offset)
        self._tables: dict[str, tuple[list[int], list[str]]] = {}

    def name(self, at: int) -> str:
        """Return the file and the function at an address."""
        place = bisect_right(self._firsts, at) - 1
        file = self._mappings[place].file if place >= 0 and at < self._mappings[place].end else ""
        addresses, names = self._table(file)
        place = bisect_right(addresses, at - self._base.get(file, 0)) - 1
        return f"{Path(file).name}: {names[place] if place >= 0 else '?'}"

    def _table(self, file: str) -> tuple[list[int], list[str]]:
        if file not in self._tables:
            rows: list[tuple[int, str]] = []
            for options in (["-nC"], ["-nDC"]) if file.startswith("/") else ():
                said = subprocess.run(
                    ["nm", *options, "--defined-only", file], capture_output=True, text=True, check=False)
                rows = [(int(parts[0], 16), parts[2]) for line in said.stdout.splitlines()
                        if len(parts := line.split(maxsplit=2)) == 3 and parts[1].lower() in "tw"]
                if rows:
                    break
            self._tables[file] = [one for one, _ in rows], [name for _, name in rows]
        return self._tables[file]


def start(options: argparse.Namespace) -> int:
    """count the cache lines that one frame touches: what it costs at 60 frames a second, without noise"""
    for work in options.work:
        if work not in WORKS:
            raise StepFailed("lines", f"there is no work {work!r}", f"use some of: {', '.join(WORKS)}")
    if platform.system() != "Linux" or platform.machine() != "x86_64":
        raise StepFailed("lines", "steps through x86-64 code by ptrace of Linux", "run it there")
    prepared = preparation.prepare(ROOT)
    install_group(ROOT, prepared.python, "lines")
    wanted = [*options.work, "--guards", options.guards, "--frame", options.frame, "--top", options.top]
    command = [prepared.python, "-m", "tools.cache_lines", *wanted, "--phases", *options.phases]
    return subprocess.run([str(one) for one in command], cwd=ROOT, check=False).returncode


def main() -> None:
    """Count, in the environment that has what the command needs."""
    parser = argparse.ArgumentParser()
    for names, settings in ARGUMENTS:
        parser.add_argument(*names, **settings)
    options = parser.parse_args()
    engine = find_or_fetch()
    print(f"{'work':12}{'guards':>7}{'code':>8}{'data':>8}{'lines':>8}{'instructions':>14}")
    for work in options.work or WORKS:
        guards = options.guards if work in ("senses", "ours", "hand") else 0
        footprint, symbols, names = _measure(engine, work, guards, options.frame, options.phases)
        code, data, instructions = footprint.sums()
        print(f"{work:12}{guards:7}{code:8}{data:8}{code + data:8}{instructions:14,}", flush=True)
        if options.phases or options.top:
            _print_phases(footprint, symbols, names, options.top)


def _measure(
    engine: GodotEngine, work: str, guards: int, frame: int, phases: list[str],
) -> tuple[Footprint, Symbols, list[str]]:
    """Return the footprint of one frame, the functions by address, and the names of its phases."""
    names_file = ROOT / ".godot" / "phases_of_frame.txt"
    names_file.unlink(missing_ok=True)
    environment = {
        **engine.environment(), "AI_CORE_MODULES": MODULE, "LINES_WORK": work, "LINES_GUARDS": str(guards),
        "LINES_FRAME": str(frame), "LINES_PHASES": " ".join(phases), "LINES_NAMES": str(names_file)}
    game = subprocess.Popen(
        engine.command(["--headless", "--path", ROOT, SCENE]), env=environment, stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT, text=True)
    try:
        _, status = os.waitpid(game.pid, os.WUNTRACED)
        if not os.WIFSTOPPED(status):
            game.returncode = os.waitstatus_to_exitcode(status)
            said = "" if game.stdout is None else game.stdout.read()
            raise StepFailed("lines", f"the scene ended before its frame:\n{said}", "run the scene without stepping")
        thread = SteppedThread(game.pid)
        mappings = thread.mappings()
        footprint = thread.follow()
        thread.leave()
        game.communicate(timeout=LONGEST_S)
    finally:
        game.kill()
    names = names_file.read_text(encoding="utf-8").splitlines() if names_file.is_file() else []
    return footprint, Symbols(mappings), ["before", *names]


def _print_phases(footprint: Footprint, symbols: Symbols, names: list[str], top: int) -> None:
    for phase, name in zip(footprint.phases, names, strict=False):
        print(f"  {name:38}{len(phase.code):8}{len(phase.data):8}{len(phase.code) + len(phase.data):8}"
              f"{phase.instructions:14,}")
        touched = Counter(symbols.name(at) for at in (*phase.code, *phase.data)) if top else Counter()
        for function, lines in touched.most_common(top):
            print(f"    {lines:6} {function[:96]}")


if __name__ == "__main__":
    try:
        main()
    except StepFailed as failure:
        print(f"\n{failure}", file=sys.stderr)
        raise SystemExit(1) from None
