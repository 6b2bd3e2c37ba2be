// Lists and reads everything with the TypeScript SDK's first generation, and prints a report (see check_clients.py).
// usage: node typescript_v1.mjs URL latest [EXTRA_URI...]
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { report } from "./report.mjs";

const [url, , ...extra] = process.argv.slice(2);
const transport = new StreamableHTTPClientTransport(new URL(url));
const client = new Client({ name: "mcpress-check", version: "1" });

await client.connect(transport);
await report(client, transport.protocolVersion, extra);
await client.close();
