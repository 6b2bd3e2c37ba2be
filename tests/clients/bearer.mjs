// Reads one resource with a bearer token in the TypeScript SDKs, and prints its text, or the error by which they fail.
// usage: node bearer.mjs v1|v2 URL URI [TOKEN]
import * as v1 from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport as V1Transport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import * as v2 from "@modelcontextprotocol/client";

const [generation, url, uri, token] = process.argv.slice(2);
const [Client, Transport] =
  generation === "v1" ? [v1.Client, V1Transport] : [v2.Client, v2.StreamableHTTPClientTransport];
const requestInit = token ? { headers: { authorization: `Bearer ${token}` } } : {};
const client = new Client({ name: "mcpress-check", version: "1" });

try {
  await client.connect(new Transport(new URL(url), { requestInit }));
  const { contents } = await client.readResource({ uri });
  console.log(`read ${contents[0].text}`);
  await client.close();
} catch (error) {
  console.log(`failed ${error.message}`);
}
