"""A file system, process table and network of its own for the fork server and all its children, where the kernel allows it.

The server moves into new mount, process, network and IPC namespaces (and a user namespace where it is not root) and a root
folder that holds, read-only, the system's libraries, Python, its packages and this package; and the sandbox's own folder,
writable. Home folders, tokens in files and other processes' environments are then not hidden but absent.
Not stopped: reading what is shown (packages, /usr, /opt, /sys: a secret kept there is seen), mounts below the shown folders that
were writable to all, and faults of the kernel: system calls are not filtered.
Linux only. Where a step is refused the caller is told why, and the children run with their other limits alone.
"""

import contextlib
import ctypes
import os
import stat
import sys
from pathlib import Path

CLONE_NEWNS, CLONE_NEWIPC, CLONE_NEWUSER, CLONE_NEWPID, CLONE_NEWNET = 0x20000, 0x08000000, 0x10000000, 0x20000000, 0x40000000
MS_RDONLY, MS_NOSUID, MS_REMOUNT, MS_BIND, MS_REC, MS_PRIVATE = 1, 2, 32, 4096, 16384, 1 << 18

SYSTEM = ("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/opt", "/sys", "/nix/store")
CONFIGURATION = (
    "/etc/ld.so.cache",
    "/etc/ld.so.conf",
    "/etc/ld.so.conf.d",
    "/etc/alternatives",
    "/etc/localtime",
    "/etc/nsswitch.conf",
)
DEVICES = ("null", "zero", "full", "random", "urandom")


class Refused(Exception):
    """The kernel or the machine's set-up does not allow a step; str() says which."""


def enter(folder: Path, show: list[Path]) -> None:
    """Moves this process (which must have no threads) and all it forks into the jail; `folder` stays writable, `show` readable.

    Returns in a new process, the first of its process namespace; the old one waits for it and exits as it does.
    Raises Refused with nothing changed that matters.
    """
    if sys.platform != "linux":
        raise Refused(f"no namespaces on {sys.platform}")
    root = os.geteuid() == 0
    uid, gid = os.geteuid(), os.getegid()
    _unshare(CLONE_NEWNS | CLONE_NEWIPC | CLONE_NEWPID | CLONE_NEWNET | (0 if root else CLONE_NEWUSER))
    if not root:
        _map_user(uid, gid)
    _become_first_process()
    _mount("none", "/", None, MS_REC | MS_PRIVATE)
    new_root = folder / "root"
    new_root.mkdir()
    _mount("tmpfs", new_root, "tmpfs", MS_NOSUID, "size=64m,mode=755")
    for path in _needed(show):
        _show(path, new_root, read_only=True)
    _show(folder, new_root, read_only=False)
    _devices(new_root)
    (new_root / "proc").mkdir()
    _mount("proc", new_root / "proc", "proc", MS_NOSUID)
    with contextlib.suppress(Refused):
        # CUDA's libraries look here for the driver; not there on a machine without one.
        _show(Path("/proc/driver"), new_root, read_only=True)
    # What a child wrote at its top (a preloaded library in /etc, say) would meet the next one.
    _mount("none", new_root, None, MS_REMOUNT | MS_RDONLY | MS_NOSUID)
    os.chroot(new_root)
    os.chdir(folder)


def _needed(show: list[Path]) -> list[Path]:
    """Existing paths that Python, its packages and compilers are read from, outermost first, none below another."""
    named = [
        *map(str, show),
        *SYSTEM,
        *CONFIGURATION,
        sys.base_prefix,
        sys.prefix,
        *filter(None, sys.path),
        str(Path(__file__).parents[1]),
    ]
    named += [part for name in ("LD_LIBRARY_PATH", "CUDA_HOME") for part in os.environ.get(name, "").split(":")]
    # The package's parent holds the project (its data, its .git): only the package itself is shown.
    package_parent = str(Path(__file__).parents[2])
    # A virtual environment may be a link: both ends are needed.
    named += [os.path.realpath(name) for name in named if name]
    paths = sorted({Path(name) for name in named if name.startswith("/") and os.path.exists(name) and name != package_parent})
    kept: list[Path] = []
    for path in paths:
        if not any(path.is_relative_to(other) for other in kept):
            kept.append(path)
    return [path for path in kept if path != Path("/")]


def _show(path: Path, new_root: Path, *, read_only: bool) -> None:
    """Bind-mounts a path at its own place under the new root; symbolic links are copied."""
    place = new_root / path.relative_to("/")
    place.parent.mkdir(parents=True, exist_ok=True)
    if path.is_symlink():
        place.symlink_to(os.readlink(path))
        return
    if path.is_dir():
        place.mkdir(exist_ok=True)
    else:
        place.touch()
    _mount(path, place, None, MS_BIND | MS_REC)
    if read_only:
        _mount(path, place, None, MS_BIND | MS_REMOUNT | MS_RDONLY | MS_NOSUID)


def _devices(new_root: Path) -> None:
    (new_root / "dev").mkdir()
    names = [*DEVICES, *(name for name in os.listdir("/dev") if name.startswith("nvidia"))]
    for name in names:
        if os.path.exists(f"/dev/{name}") and (stat.S_ISCHR(os.stat(f"/dev/{name}").st_mode) or name.startswith("nvidia")):
            _show(Path("/dev", name), new_root, read_only=False)
    (new_root / "dev/shm").mkdir(mode=0o777)
    (new_root / "tmp").mkdir(mode=0o777, exist_ok=True)


def _become_first_process() -> None:
    """The process that made a process namespace is not in it: its first child is, and goes on alone."""
    child = os.fork()
    if child:
        _, status = os.waitpid(child, 0)
        os._exit(os.waitstatus_to_exitcode(status) & 0xFF)
    # If the waiting parent is killed, so is this one, and with it the whole namespace.
    _libc().prctl(1, 9)


def _map_user(uid: int, gid: int) -> None:
    Path("/proc/self/setgroups").write_text("deny")
    Path("/proc/self/uid_map").write_text(f"{uid} {uid} 1")
    Path("/proc/self/gid_map").write_text(f"{gid} {gid} 1")


def _libc() -> ctypes.CDLL:
    return ctypes.CDLL(None, use_errno=True)


def _unshare(flags: int) -> None:
    if _libc().unshare(flags) != 0:
        raise Refused(f"unshare: {os.strerror(ctypes.get_errno())}")


def _mount(source: object, target: object, kind: str | None, flags: int, data: str = "") -> None:
    arguments = (str(source).encode(), str(target).encode(), kind.encode() if kind else None, flags, data.encode())
    if _libc().mount(*arguments) != 0:
        raise Refused(f"mount {target}: {os.strerror(ctypes.get_errno())}")
