#!/usr/bin/env node
import { refuseOldNode } from './node-version.js'

// The build transpiles this file for old versions of Node. All other modules are imported after the version check.
if (!refuseOldNode()) run().catch(refuseIncomplete)

async function run () {
  // --help, --version and `test` must not create a data folder, and must not write into one that the service would refuse.
  const isInformational = process.argv[2] === 'test' ||
    process.argv.slice(2).some((argument) => ['--help', '-h', '--version'].includes(argument))
  if (!isInformational) {
    await addFileThreads()
    await keepCompiledCode()
  }
  if (process.argv[2] === 'rotate-key' && !isInformational) await import('./rotate-key.ts')
  else if (process.argv[2] === 'acp' && !isInformational) await import('./acp.ts')
  else if (process.argv[2] === 'reach' && !isInformational) await import('./reach.ts')
  else await import('../server.ts')
}

/**
 * Raises the number of Node's threads for file operations from 4 to 16, unless the user has set it. A call on a file system that hangs,
 * such as a mount of an unreachable server, blocks its thread, and the store needs a free one. Children do not inherit the number.
 */
async function addFileThreads () {
  if (process.env.UV_THREADPOOL_SIZE !== undefined) return
  process.env.UV_THREADPOOL_SIZE = '16'
  const { stat } = await import('node:fs/promises')
  await stat('/').catch(() => {})
  delete process.env.UV_THREADPOOL_SIZE
}

/** Enables Node's compile cache beside the configuration, before anything else is loaded; this halves the time of the next start. */
async function keepCompiledCode () {
  const { mkdirSync, statSync } = await import('node:fs')
  const { enableCompileCache } = await import('node:module')
  const { homedir } = await import('node:os')
  const { join } = await import('node:path')

  /**
   * Creates a folder for its owner only. Returns false if other users can write to it, because compiled code from such a folder cannot be
   * trusted.
   */
  const isPrivate = (dir: string): boolean => {
    mkdirSync(dir, { recursive: true, mode: 0o700 })
    const { uid, mode } = statSync(dir)
    return process.getuid === undefined || (uid === process.getuid() && (mode & 0o022) === 0)
  }
  try {
    const home = process.env.LOCAL_AGENT_HOME || join(homedir(), '.local-agent')
    const cache = join(home, 'cache')
    if (isPrivate(home) && isPrivate(cache)) enableCompileCache(cache)
  } catch {}
}

/** Prints one sentence about the part of the service that is missing or does not load. Rethrows other errors. */
function refuseIncomplete (error: NodeJS.ErrnoException) {
  const isPackage = ['MODULE_NOT_FOUND', 'ERR_MODULE_NOT_FOUND', 'ERR_DLOPEN_FAILED'].indexOf(error.code!) >= 0 ||
    // A package whose native module is missing.
    /^No native build was found/.test(error.message)
  if (!isPackage && error.code !== 'INCOMPLETE') throw error
  const [what] = error.message.replace(/\n\s*(?=loaded from)/, ', ').split('\n')
  process.stderr.write(
    `local-agent is not completely installed: ${what}. Install it again; in a clone of its sources, run npm ci and npm run build.\n`
  )
  // The exit code EX_OSFILE of sysexits.h.
  process.exitCode = 72
}
