#!/usr/bin/env node
import { mkdirSync, statSync } from 'node:fs'
import { enableCompileCache } from 'node:module'
import { homedir } from 'node:os'
import { join } from 'node:path'

/** Makes a folder for its owner alone. Whether it is one: what lies there is then ours, and may be believed. */
function isPrivate (dir: string): boolean {
  mkdirSync(dir, { recursive: true, mode: 0o700 })
  const { uid, mode } = statSync(dir)
  return process.getuid === undefined || (uid === process.getuid() && (mode & 0o022) === 0)
}

// Before anything else is loaded: compiled code is kept beside the configuration, which halves the next start.
// Who only asks for help gets no directory, and none is made in one that the service will refuse.
const isQuestion = process.argv.slice(2).some((argument) => ['--help', '-h', '--version'].includes(argument))
if (!isQuestion) {
  const home = process.env.LOCAL_AGENT_HOME || join(homedir(), '.local-agent')
  const cache = join(home, 'cache')
  try { if (isPrivate(home) && isPrivate(cache)) enableCompileCache(cache) } catch {}
}
if (process.argv[2] === 'rotate-key') await import('./rotate-key.ts')
else await import('./server.ts')
