#!/usr/bin/env node
import { mkdirSync } from 'node:fs'
import { enableCompileCache } from 'node:module'
import { homedir } from 'node:os'
import { join } from 'node:path'

// Before anything else is loaded: compiled code is kept beside the configuration, which halves the next start.
// Who only asks for help gets no directory.
const isQuestion = process.argv.slice(2).some((argument) => ['--help', '-h', '--version'].includes(argument))
if (!isQuestion) {
  const cache = join(process.env.LOCAL_AGENT_HOME || join(homedir(), '.local-agent'), 'cache')
  // Never open to others, not even for the moment until the service closes it.
  try { mkdirSync(cache, { recursive: true, mode: 0o700 }) } catch {}
  enableCompileCache(cache)
}
if (process.argv[2] === 'rotate-key') await import('./rotate-key.ts')
else await import('./server.ts')
