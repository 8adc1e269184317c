// Plays a plan on the official TypeScript SDK 1.x and prints what the client made of every answer.
// node sdk_1.mjs NODE_MODULES PLAN.json
import { createRequire } from "node:module";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { play } from "./play.mjs";

const [modules, planPath] = process.argv.slice(2);
const find = createRequire(join(modules, "here.js"));
const load = (name) => import(pathToFileURL(find.resolve(name)));
const { Client } = await load("@modelcontextprotocol/sdk/client/index.js");
const { StdioClientTransport } = await load("@modelcontextprotocol/sdk/client/stdio.js");

const plan = JSON.parse(readFileSync(planPath, "utf8"));
const client = new Client({ name: "referee", version: "1" });
const transport = new StdioClientTransport({ ...plan.server, stderr: "inherit" });
await client.connect(transport);
console.log(JSON.stringify({ hello: { server: client.getServerVersion() }, ...(await play(client, plan)) }));
await client.close();
