// Written by `context-pack setup opencode --hooks`; `context-pack setup opencode --remove` takes it away.
import { spawnSync } from "node:child_process"
import { appendFileSync, mkdtempSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"

const [program, ...words] = COMMAND

export const ContextPack = async ({ directory }) => {
  const folder = mkdtempSync(join(tmpdir(), "context-pack-"))
  const told = new Map()
  const transcript = (session) => join(folder, `${session}.jsonl`)
  const hook = (event, session) => {
    const input = JSON.stringify({ session_id: session, transcript_path: transcript(session), cwd: directory })
    const done = spawnSync(program, [...words, "hook", event], { cwd: directory, input, encoding: "utf8", timeout: 10000 })
    return done.stdout ? JSON.parse(done.stdout).hookSpecificOutput.additionalContext : ""
  }
  return {
    "experimental.chat.system.transform": async ({ sessionID }, output) => {
      if (!sessionID) return
      if (!told.has(sessionID)) told.set(sessionID, hook("start", sessionID))
      if (told.get(sessionID)) output.system.push(told.get(sessionID))
    },
    "tool.execute.after": async ({ tool, sessionID, args }) => {
      appendFileSync(transcript(sessionID), JSON.stringify({ name: tool, input: args }) + "\n")
    },
    "experimental.session.compacting": async ({ sessionID }) => {
      hook("compact", sessionID)
      told.delete(sessionID)
    },
  }
}
