"""Ask pip-audit for known vulnerabilities of all that is installed; `make lint-security` runs this.

Prints each vulnerability, and how many packages were looked up, and exits with 1 if there is a vulnerability. Where the
network is not reachable, or the package index has no list of vulnerabilities, it says so and exits with 0.
"""

import json
import subprocess
import sys

COMMAND = ("-m", "pip_audit", "--skip-editable", "--progress-spinner", "off", "--format", "json")


def verdict(output, said):
    """Return the lines to print, and the number of vulnerabilities, from what pip-audit wrote and said."""
    try:
        packages = json.loads(output)["dependencies"]
    except ValueError:
        return [f"pip-audit could not ask: {(said.strip().splitlines() or ['it says nothing'])[-1]}"], 0
    asked = [one for one in packages if "skip_reason" not in one]
    if not asked:
        return [f"pip-audit could not ask: none of {len(packages)} packages is known to the index that it reaches"], 0
    found = [(one, each) for one in asked for each in one["vulns"]]
    lines = [f"{one['name']} {one['version']}: {each['id']}, mended in {each['fix_versions']}" for one, each in found]
    left = f", {len(packages) - len(asked)} could not be looked up" if len(asked) < len(packages) else ""
    return [*lines, f"{len(found)} known vulnerabilities in {len(asked)} packages{left}"], len(found)


def main():
    done = subprocess.run([sys.executable, *COMMAND], capture_output=True, text=True, check=False)
    lines, found = verdict(done.stdout, done.stderr)
    print("\n".join(lines))
    sys.exit(1 if found else 0)


if __name__ == "__main__":
    main()
