#!/usr/bin/env node
import { refuseOldNode } from './node-version.js'

// The build makes this file one that an old Node can read. All else is imported once the version is known to do.
if (!refuseOldNode()) void run()

async function run () {
  // Whoever only asks for help gets no directory, and none is made in one that the service will refuse.
  const isQuestion = process.argv.slice(2).some((argument) => ['--help', '-h', '--version'].includes(argument))
  if (!isQuestion) await keepCompiledCode()
  if (process.argv[2] === 'rotate-key') await import('./rotate-key.ts')
  else await import('../server.ts')
}

/** Before anything else is loaded: compiled code is kept beside the configuration, which halves the next start. */
async function keepCompiledCode () {
  const { mkdirSync, statSync } = await import('node:fs')
  const { enableCompileCache } = await import('node:module')
  const { homedir } = await import('node:os')
  const { join } = await import('node:path')

  /** Makes a folder for its owner alone. False when others may write to it: compiled code from there cannot be trusted. */
  const isPrivate = (dir: string): boolean => {
    mkdirSync(dir, { recursive: true, mode: 0o700 })
    const { uid, mode } = statSync(dir)
    return process.getuid === undefined || (uid === process.getuid() && (mode & 0o022) === 0)
  }
  const home = process.env.LOCAL_AGENT_HOME || join(homedir(), '.local-agent')
  const cache = join(home, 'cache')
  try {
    if (isPrivate(home) && isPrivate(cache)) enableCompileCache(cache)
  } catch {}
}
