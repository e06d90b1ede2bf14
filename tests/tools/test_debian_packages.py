"""Reading apt's answers, without a network."""
from __future__ import annotations

import shutil
import subprocess

import pytest

from tools.debian_packages import acquire_settings, debian_mirror, unpack
from tools.progress import Step, StepFailed

DEB822 = """Types: deb
# URIs: http://commented.example/debian
URIs: http://mirror.example/debian-security http://mirror.example/debian
Suites: bookworm
"""
ONE_LINE = """# deb http://commented.example/debian bookworm main
deb [arch=amd64 signed-by=/usr/share/keyrings/k.gpg] https://near.example/debian/ bookworm main
"""


def test_the_mirror_is_the_one_apt_holds_lists_of():
    targets = "Vendor|Vendor|http://vendor.example/debian/\nDebian|Debian|http://held.example/deb/\n"
    assert debian_mirror(targets, [DEB822]) == "http://held.example/deb"


def test_debian_security_is_not_the_mirror():
    targets = "Debian|Debian-Security|http://held.example/debian-security/\n"
    assert debian_mirror(targets, [DEB822]) == "http://mirror.example/debian"


def test_without_lists_the_mirror_is_read_from_both_formats():
    assert debian_mirror("", [DEB822]) == "http://mirror.example/debian"
    assert debian_mirror("", [ONE_LINE]) == "https://near.example/debian"


def test_a_machine_without_a_debian_archive_is_told_so():
    with pytest.raises(StepFailed, match="name no Debian archive"):
        debian_mirror("Ubuntu|Ubuntu|http://archive.example/ubuntu/", ["deb http://archive.example/ubuntu noble main"])


def test_proxies_are_kept_and_hooks_and_list_choices_are_not():
    dump = "\n".join([
        'Acquire::http::Proxy "http://proxy.example:3128";',
        'Acquire::IndexTargets::deb::Packages::MetaKey "x";',
        'Acquire::Languages:: "de";',
        'APT::Update::Post-Invoke-Success:: "touch /somewhere";',
    ])
    assert acquire_settings(dump) == 'Acquire::http::Proxy "http://proxy.example:3128";\n'


@pytest.mark.skipif(shutil.which("dpkg-deb") is None, reason="needs dpkg-deb")
def test_package_links_resolve_inside_it_and_not_on_this_machine(tmp_path):
    content = tmp_path / "content"
    (content / "DEBIAN").mkdir(parents=True)
    (content / "DEBIAN/control").write_text(
        "Package: linked\nVersion: 1\nArchitecture: all\nMaintainer: nobody\nDescription: links\n")
    (content / "etc").mkdir()
    (content / "etc/hostname").write_text("the package's")
    (content / "usr/lib").mkdir(parents=True)
    (content / "usr/lib/name").symlink_to("/etc/hostname")
    (content / "usr/lib/elsewhere").symlink_to("/etc/of_another_package")
    subprocess.run(["dpkg-deb", "--build", content, tmp_path / "linked.deb"], check=True, capture_output=True)
    unpack([tmp_path / "linked.deb"], tmp_path / "prefix", Step("unpacking"))
    assert (tmp_path / "prefix/usr/lib/name").read_text() == "the package's"
    assert (tmp_path / "prefix/usr/lib/elsewhere").is_symlink()
