import { closeSync, openSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { createRequire, getCompileCacheDir } from 'node:module'
import { dirname, join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { constants, Script } from 'node:vm'
import { crc32 } from 'node:zlib'
import { keepYoungGeneration, letYoungGenerationGrow } from '../services/process/young-generation.ts'

// Runs the two bundles of the service with the bytecode of an earlier process: the first at once, the second when one of its modules is
// imported. Node's compile cache holds what is compiled before a module runs, but V8 compiles most functions when they are first called:
// these are two thirds of the code that a start compiles.

/** The names of the bundles, which hold a digest of the content of both. Set by the build. */
declare const SERVICE_FILE: string
declare const LATER_FILE: string
/** Set by the build: the bytes of these two, and of the pack. */
declare const FILES: Record<string, number>

/**
 * Times after a bundle ran at which its compiled code is stored if none was there: the warm-up has run by the first of them, and probably
 * some requests by the others. Each holds the event loop for some 30 ms.
 */
const SAVE_MS = [3_000, 20_000, 120_000]
const CHECKSUM_BYTES = 4

/** Node's modules that every start needs. They are loaded while V8 accepts their compiled code, see `keepYoungGeneration`. */
const START_MODULES = [
  'assert',
  'async_hooks',
  'child_process',
  'crypto',
  'diagnostics_channel',
  'dns',
  'fs/promises',
  'http',
  'os',
  'perf_hooks',
  'stream/consumers',
  'stream/promises',
  'string_decoder',
  'timers/promises',
  'tty',
  'worker_threads',
  'zlib'
]

/** A function that returns the exports of a module of the other bundle. */
type FindModule = (path: string) => unknown
type Program = (require: NodeJS.Require, file: string, folder: string, url: string, other: FindModule) => { findModule: FindModule }

// Undefined when the folder cannot be used. It names the version of Node.
const cache = getCompileCacheDir()
const pathOf = (name: string) => fileURLToPath(new URL(name, import.meta.url))

/** Throws when a file is missing or cut off: some are read later, while requests wait. */
function assertComplete () {
  for (const [name, bytes] of Object.entries(FILES)) {
    const size = statSync(pathOf(name), { throwIfNoEntry: false })?.size
    if (size === bytes) continue
    const what = size === undefined ? 'is missing' : `has ${size} bytes of ${bytes}`
    throw Object.assign(new Error(`${pathOf(name)} ${what}`), { code: 'INCOMPLETE' })
  }
}

/** Returns the stored code; undefined when there is none or it is damaged. V8 itself refuses code of another version. */
function load (path: string): Buffer | undefined {
  try {
    const stored = readFileSync(path)
    const code = stored.subarray(CHECKSUM_BYTES)
    return crc32(code) === stored.readUInt32LE() ? code : undefined
  } catch {
    return undefined
  }
}

/** Stores the code of all functions that are compiled now, in place of that of other builds. A failure only costs time. */
function save (script: Script, path: string) {
  try {
    // The code is loaded by the next start without that limit.
    letYoungGenerationGrow()
    const code = script.createCachedData()
    keepYoungGeneration()
    const checksum = Buffer.alloc(CHECKSUM_BYTES)
    checksum.writeUInt32LE(crc32(code))
    const written = `${path}.${process.pid}`
    writeFileSync(written, Buffer.concat([checksum, code]), { mode: 0o600 })
    renameSync(written, path)
    const own = [SERVICE_FILE, LATER_FILE].map((name) => `${name}.code`)
    for (const name of readdirSync(dirname(path))) {
      if (/^(?:service|later)-.*\.code/.test(name) && !own.includes(name)) rmSync(join(dirname(path), name))
    }
  } catch {}
}

/** Compiles a bundle, which `file` is the path or the descriptor of. In a function, so that the stored code does not stay in memory. */
function compile (name: string, file: string | number): Script {
  const cacheFile = cache === undefined ? undefined : join(cache, `${name}.code`)
  const cachedData = cacheFile === undefined ? undefined : load(cacheFile)
  // The bundle is ASCII, so each byte is a character.
  const script = new Script(readFileSync(file, 'latin1'), {
    filename: pathOf(name),
    cachedData,
    importModuleDynamically: constants.USE_MAIN_CONTEXT_DEFAULT_LOADER
  })
  if (cacheFile !== undefined && (cachedData === undefined || script.cachedDataRejected)) {
    for (const ms of SAVE_MS) setTimeout(save, ms, script, cacheFile).unref()
  }
  return script
}

function run (script: Script, name: string, other: FindModule): FindModule {
  const file = pathOf(name)
  const program = script.runInThisContext() as Program
  return program(createRequire(file), file, dirname(file), pathToFileURL(file).href, other).findModule
}

let findLater: FindModule | undefined
function runLater (): FindModule {
  // V8 accepts the stored code only under the flags that it was stored with.
  letYoungGenerationGrow()
  const script = compile(LATER_FILE, laterFile)
  keepYoungGeneration()
  closeSync(laterFile)
  return run(script, LATER_FILE, findFirst)
}

assertComplete()
// It stays open, because another version may be unpacked here before it is read.
const laterFile = openSync(pathOf(LATER_FILE), 'r')
const script = compile(SERVICE_FILE, pathOf(SERVICE_FILE))
for (const name of START_MODULES) process.getBuiltinModule(name)
keepYoungGeneration()
const findFirst = run(script, SERVICE_FILE, (path) => (findLater ??= runLater())(path))
