// Plays a plan on the official TypeScript client 2.x in one of its modes of version negotiation.
// node client_2.mjs NODE_MODULES MODE PLAN.json
import { createRequire } from "node:module";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { play } from "./play.mjs";

const [modules, mode, planPath] = process.argv.slice(2);
const find = createRequire(join(modules, "here.js"));
const load = (name) => import(pathToFileURL(find.resolve(name)));
const { Client } = await load("@modelcontextprotocol/client");
const { StdioClientTransport } = await load("@modelcontextprotocol/client/stdio");

const plan = JSON.parse(readFileSync(planPath, "utf8"));
const modes = { legacy: undefined, auto: { mode: "auto" }, "2026-07-28": { mode: { pin: "2026-07-28" } } };
const client = new Client({ name: "referee", version: "1" }, { versionNegotiation: modes[mode] });
const transport = new StdioClientTransport({ ...plan.server, stderr: "inherit" });
await client.connect(transport);
const hello = { server: client.getServerVersion(), version: client.getNegotiatedProtocolVersion() };
console.log(JSON.stringify({ hello, ...(await play(client, plan)) }));
await client.close();
