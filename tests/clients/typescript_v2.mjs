// Lists and reads everything with the TypeScript SDK's second generation, and prints a report (see check_clients.py).
// usage: node typescript_v2.mjs URL auto|legacy|REVISION [EXTRA_URI...]
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { report } from "./report.mjs";

const [url, mode, ...extra] = process.argv.slice(2);
const client = new Client({ name: "mcpress-check", version: "1" }, options(mode));

await client.connect(new StreamableHTTPClientTransport(new URL(url)));
await report(client, client.getNegotiatedProtocolVersion(), extra);
await client.close();

function options(mode) {
  if (mode === "auto" || mode === "legacy") return { versionNegotiation: { mode } };
  if (mode >= "2026-07-28") return { versionNegotiation: { mode: { pin: mode } } };
  return { versionNegotiation: { mode: "legacy" }, supportedProtocolVersions: [mode] };
}
