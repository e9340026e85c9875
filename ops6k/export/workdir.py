"""An agent's work folder for one task: the reference, a stub to fill, the row, rules, and scripts that score and profile."""

import shutil
from pathlib import Path

from ops6k.export.stub import signatures
from ops6k.records import Task
from ops6k.store import to_plain, write_json
from ops6k.task_rows import tolerance

_HERE = Path(__file__).parent
# Not `profile.py`: torch.compile imports cProfile, which imports `profile`, and would find the script instead.
SCRIPTS = ("verify.py", "profile_kernel.py")


def write_workdir(folder: Path, task: Task) -> list[str]:
    """The files of the folder; a line for each. Raises Ops6kError where the code has no signatures to keep."""
    from ops6k.fuse.llm.templates import Templates

    render = Templates(_HERE).render
    stub = render("model_new.py.j2", task=task, signatures=signatures(task))
    atol, rtol = tolerance(task)
    skill = render("SKILL.md.j2", task=task, atol=atol, rtol=rtol)
    (folder / "model.py").write_bytes(task.code.encode("utf-8"))  # as bytes: line ends stay as they are
    (folder / "model_new.py").write_text(stub, encoding="utf-8")
    (folder / "SKILL.md").write_text(skill, encoding="utf-8")
    write_json(folder / "task.json", to_plain(task))
    for name in SCRIPTS:
        shutil.copyfile(_HERE / f"{name}.j2", folder / name)  # no places to fill; .j2 keeps them out of the package's own code
    return sorted(path.name for path in folder.iterdir())
