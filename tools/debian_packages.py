"""Debian packages unpacked into a folder of our own; the system is read, never changed.

apt gets its own lists, cache and an empty status file, so it works without root.
Where from: the machine's own Debian mirror. Whom to trust: the Debian archive keyring.
"""
from __future__ import annotations

import os
import re
import shutil
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from tools.processes import Finished, check, run
from tools.progress import Step, StepFailed

KEYRING = Path("/usr/share/keyrings/debian-archive-keyring.gpg")
_SOURCES = Path("/etc/apt")
# Whole download on a slow line (180 MB at 0.5 MB/s is 6 minutes).
_DOWNLOAD_LIMIT_S = 1200.0
_QUICK_LIMIT_S = 60.0
# apt's lists and downloads, inside the folder that is being filled, gone when it is full.
_WORKSHOP = "apt.tmp"
# Nothing we run reads these. The first one holds licences.
_NOT_NEEDED = ("doc", "man", "locale", "lintian", "bug", "info", "icons", "doc-base")
_REMEDY = "check the network and the machine's apt set-up (does `apt-get update` work?), then try again"


def fetch_packages(packages: Sequence[str], suite: str, target: Path, progress: Step) -> list[str]:
    """Download packages with all they depend on and unpack them into ``target``.

    Args:
        packages: names of Debian packages.
        suite: the Debian release to take them from, such as "forky".
        target: an existing folder; afterwards holds usr/bin, usr/lib and so on.
        progress: told what is going on.

    Returns:
        The file names of all packages unpacked, sorted.

    Raises:
        StepFailed: if apt is missing, or cannot reach, verify or find the packages.
    """
    workshop = _prepare_apt(suite, target / _WORKSHOP)
    progress.note(f"reading the package lists of {suite}")
    _apt(workshop, "update", "--error-on=any", limit_s=_DOWNLOAD_LIMIT_S, progress=progress)
    _apt(
        workshop, "install", "--download-only", "--no-install-recommends", "--yes", *packages,
        limit_s=_DOWNLOAD_LIMIT_S, progress=progress,
    )
    archives = sorted((workshop / "cache" / "archives").glob("*.deb"))
    unpack(archives, target, progress)
    shutil.rmtree(workshop)
    return [archive.name for archive in archives]


def fetch_without_dependencies(
    packages: Sequence[str], target: Path, progress: Step, *, suite: str = "", with_licences: bool = False,
    architecture: str = "",
) -> list[str]:
    """Download exactly these packages and unpack them.

    Args:
        packages: names of Debian packages.
        target: an existing folder; afterwards holds usr/bin, usr/lib and so on.
        progress: told what is going on.
        suite: the Debian release to take them from; "" is the machine's own, for pieces that
            must match what is installed, such as the headers of its Python.
        with_licences: keep what lies in usr/share/doc.
        architecture: Debian's name of a processor, such as "arm64"; "" is the machine's.

    Returns:
        The file names of the packages, sorted.

    Raises:
        StepFailed: if apt cannot reach, verify or find them.
    """
    workshop = _prepare_apt(suite or installed_release(), target / _WORKSHOP, architecture)
    _apt(workshop, "update", "--error-on=any", limit_s=_DOWNLOAD_LIMIT_S, progress=progress)
    _apt(workshop, "download", *packages, limit_s=_DOWNLOAD_LIMIT_S, progress=progress)
    archives = sorted(workshop.glob("*.deb"))
    unpack(archives, target, progress, with_licences=with_licences)
    shutil.rmtree(workshop)
    return [archive.name for archive in archives]


def fetch_sources(packages: Sequence[str], suite: str, target: Path, progress: Step) -> list[str]:
    """Download what its authors published of each source package and unpack it into ``target/PACKAGE``.

    Args:
        packages: names of Debian source packages.
        suite: the Debian release to take them from.
        target: an existing folder.
        progress: told what is going on.

    Returns:
        The file names of the archives, sorted.

    Raises:
        StepFailed: if apt cannot reach, verify or find them.
    """
    workshop = _prepare_apt(suite, target / _WORKSHOP, kind="deb-src")
    progress.note(f"reading the lists of sources of {suite}")
    _apt(workshop, "update", "--error-on=any", limit_s=_DOWNLOAD_LIMIT_S, progress=progress)
    _apt(workshop, "source", "--download-only", "--tar-only", *packages, limit_s=_DOWNLOAD_LIMIT_S, progress=progress)
    names = []
    for package in packages:
        [archive] = workshop.glob(f"{package}_*.orig.tar.*")
        progress.note(f"unpacking {archive.name}")
        shutil.unpack_archive(archive, target / "unpacked.tmp", filter="data")
        [folder] = (target / "unpacked.tmp").iterdir()
        folder.rename(target / package)
        (target / "unpacked.tmp").rmdir()
        names.append(archive.name)
    shutil.rmtree(workshop)
    return sorted(names)


def unpack(archives: Sequence[Path], target: Path, progress: Step, *, with_licences: bool = False) -> None:
    """Unpack package files into ``target``, leaving out documentation, and licences unless they are wanted."""
    progress.note(f"unpacking {len(archives)} packages")

    def unpack_one(archive: Path) -> None:
        finished = run(["dpkg", "-x", archive, target], timeout_s=_QUICK_LIMIT_S * 5)
        check(f"unpacking {archive.name}", "free some disk space, then try again", finished)

    with ThreadPoolExecutor(os.cpu_count()) as pool:
        list(pool.map(unpack_one, archives))
    _point_links_inside(target)
    for name in _NOT_NEEDED[1 if with_licences else 0:]:
        shutil.rmtree(target / "usr" / "share" / name, ignore_errors=True)


def _point_links_inside(target: Path) -> None:
    """Let links to absolute paths mean what was unpacked here, not what this machine happens to have there."""
    for link in target.rglob("*"):
        if link.is_symlink() and (named := link.readlink()).is_absolute():
            here = target / named.relative_to("/")
            if os.path.lexists(here):
                link.unlink()
                link.symlink_to(os.path.relpath(here, link.parent))


def debian_mirror(index_targets: str, source_files: Sequence[str]) -> str:
    """Return the address of the Debian archive that this machine uses.

    Args:
        index_targets: lines "ORIGIN|LABEL|REPO_URI" as printed by apt for the lists it holds.
        source_files: texts of the machine's source files, for when it holds no lists yet.

    Raises:
        StepFailed: if there is none.
    """
    for line in index_targets.splitlines():
        origin, _, rest = line.partition("|")
        label, _, uri = rest.partition("|")
        if (origin, label) == ("Debian", "Debian"):
            return uri.rstrip("/")
    for uri in _named_addresses(source_files):
        # ".../debian" is the main archive; ".../debian-security" and vendors' own ones are not.
        if uri.rstrip("/").endswith("/debian"):
            return uri.rstrip("/")
    raise StepFailed(
        "finding a Debian mirror",
        "this machine's apt sources name no Debian archive",
        "on a system other than Debian install what is needed yourself (see the README)",
    )


def _named_addresses(source_files: Sequence[str]) -> list[str]:
    """Return the addresses in apt source files of both formats, commented ones left out."""
    named: list[str] = []
    for text in source_files:
        for line in re.findall(r"^URIs:(.*)$", text, re.MULTILINE | re.IGNORECASE):
            named += line.split()
        named += re.findall(r"^deb\s+(?:\[[^\]]*\]\s*)?(\S+)", text, re.MULTILINE)
    return named


def acquire_settings(apt_config_dump: str) -> str:
    """Return the machine's download settings (proxies and the like) from ``apt-config dump``.

    Which lists to load is ours to say, so index targets and languages stay out; hooks
    are not download settings and so stay out too.
    """
    kept = [
        line for line in apt_config_dump.splitlines()
        if line.startswith("Acquire::")
        and not line.startswith(("Acquire::IndexTargets", "Acquire::Languages"))
    ]
    return "\n".join(kept) + "\n"


def installed_release() -> str:
    """Return the code name of the machine's own Debian release."""
    text = Path("/etc/os-release").read_text()
    found = re.search(r"^VERSION_CODENAME=\"?(\w+)", text, re.MULTILINE)
    return found.group(1) if found else "stable"


def _prepare_apt(suite: str, workshop: Path, architecture: str = "", kind: str = "deb") -> Path:
    """Make a folder with lists, cache, status, sources and configuration for apt."""
    for program in ("apt-get", "apt-config", "dpkg"):
        if shutil.which(program) is None:
            raise StepFailed("fetching Debian packages", f"{program} is not on this machine", "see the README")
    if not KEYRING.is_file():
        raise StepFailed("fetching Debian packages", f"{KEYRING} is missing", "apt-get install debian-archive-keyring")
    (workshop / "lists" / "partial").mkdir(parents=True)
    (workshop / "cache" / "archives" / "partial").mkdir(parents=True)
    (workshop / "status").touch()
    listed = run(["apt-get", "indextargets", "--format", "$(ORIGIN)|$(LABEL)|$(REPO_URI)"], timeout_s=_QUICK_LIMIT_S)
    files = [*_SOURCES.glob("sources.list"), *sorted((_SOURCES / "sources.list.d").glob("*.[sl]*"))]
    texts = [file.read_text(errors="replace") for file in files if file.suffix in {".sources", ".list"}]
    mirror = debian_mirror(listed.output if listed.succeeded else "", texts)
    (workshop / "our.sources").write_text(
        f"Types: {kind}\nURIs: {mirror}\nSuites: {suite}\nComponents: main\nSigned-By: {KEYRING}\n"
    )
    dump = run(["apt-config", "dump"], timeout_s=_QUICK_LIMIT_S)
    (workshop / "apt.conf").write_text(acquire_settings(dump.output) + _own_settings(workshop, architecture))
    return workshop


def _own_settings(workshop: Path, architecture: str) -> str:
    settings = {
        "Dir::Etc::parts": "/dev/null", "Dir::Etc::main": "/dev/null",
        "Dir::Etc::sourcelist": workshop / "our.sources", "Dir::Etc::sourceparts": "/dev/null",
        "Dir::Etc::preferences": "/dev/null", "Dir::Etc::preferencesparts": "/dev/null",
        "Dir::State": workshop, "Dir::State::lists": workshop / "lists",
        "Dir::State::status": workshop / "status", "Dir::Cache": workshop / "cache",
        "Dir::Cache::archives": workshop / "cache" / "archives",
        "Dir::Log": workshop,
        "Acquire::Languages": "none", "Acquire::Retries": "3",
        # As root apt would download as a user who cannot write into our folder.
        "APT::Sandbox::User": "root",
        "APT::Get::AllowUnauthenticated": "false", "APT::Keep-Downloaded-Packages": "true",
    }
    if architecture:
        settings |= {"APT::Architecture": architecture, "APT::Architectures": architecture}
    return "".join(f'{name} "{value}";\n' for name, value in settings.items())


def _apt(workshop: Path, *arguments: str, limit_s: float, progress: Step) -> Finished:
    environment = {**os.environ, "APT_CONFIG": str(workshop / "apt.conf"), "LC_ALL": "C.UTF-8"}
    finished = run(
        ["apt-get", *arguments], timeout_s=limit_s, env=environment, cwd=workshop, on_line=progress.note
    )
    return check(f"apt-get {' '.join(arguments[:1])}", _REMEDY, finished)
