"""What pyproject.toml cannot say: ``assets/`` stands beside the packages and is installed inside ``app``."""

from pathlib import Path

from setuptools import setup
from setuptools.command.build_py import build_py


class WithAssets(build_py):
    """Copies ``assets/`` to where ``app.ASSETS`` looks; an editable installation reads the folder itself."""

    def run(self) -> None:
        super().run()
        if not self.editable_mode:
            self.copy_tree("assets", str(Path(self.build_lib, "app", "assets")))


setup(cmdclass={"build_py": WithAssets})
