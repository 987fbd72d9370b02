import { closeSync, openSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { createRequire, getCompileCacheDir } from 'node:module'
import { dirname, join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { constants, Script } from 'node:vm'
import { crc32 } from 'node:zlib'
import { keepYoungGeneration, letYoungGenerationGrow } from '../services/process/young-generation.ts'

// Runs the two bundles of the service with the bytecode that an earlier process stored: the first bundle at once, the second when one of
// its modules is imported. Node's compile cache holds only the functions that are compiled before a module runs. V8 compiles most functions
// at their first call, and these are two thirds of the code that a start compiles.

/** The file names of the two bundles. Each holds a digest of the content of both. Set by the build. */
declare const SERVICE_FILE: string
declare const LATER_FILE: string
/** The sizes of the two bundles and of the pack, in bytes, by file name. Set by the build. */
declare const FILES: Record<string, number>

/**
 * Delays, in milliseconds after a bundle is compiled, at which its bytecode is stored if none was stored before. The warm-up has run by the
 * first delay, and requests have probably run by the later ones. Each save blocks the event loop for about 30 ms.
 */
const SAVE_MS = [3_000, 20_000, 120_000]
const CHECKSUM_BYTES = 4

/**
 * Node's modules that every start needs. They are loaded before `keepYoungGeneration` sets its flag, because V8 rejects their bytecode
 * under that flag.
 */
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

// Undefined if the folder of the compile cache cannot be used. The path of the folder holds the version of Node.
const cache = getCompileCacheDir()
const pathOf = (name: string) => fileURLToPath(new URL(name, import.meta.url))

/** Throws if a file is missing or truncated. Some files are read only later, while requests wait for them. */
function assertComplete () {
  for (const [name, bytes] of Object.entries(FILES)) {
    const size = statSync(pathOf(name), { throwIfNoEntry: false })?.size
    if (size === bytes) continue
    const what = size === undefined ? 'is missing' : `has ${size} bytes of ${bytes}`
    throw Object.assign(new Error(`${pathOf(name)} ${what}`), { code: 'INCOMPLETE' })
  }
}

/** Returns the stored bytecode; undefined if there is none or it is damaged. V8 itself rejects bytecode of another version. */
function load (path: string): Buffer | undefined {
  try {
    const stored = readFileSync(path)
    const code = stored.subarray(CHECKSUM_BYTES)
    return crc32(code) === stored.readUInt32LE() ? code : undefined
  } catch {
    return undefined
  }
}

/**
 * Stores the bytecode of all functions that are compiled so far, and removes that of other builds. Ignores failures: without it the next
 * start is only slower.
 */
function save (script: Script, path: string) {
  try {
    // The next start loads the bytecode without the limit on the young generation, so it is made without that limit.
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

/**
 * Compiles a bundle. `file` is its path or its file descriptor. A separate function, so that the stored bytecode does not stay in memory.
 */
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
  // V8 accepts bytecode only under the flags under which it was made.
  letYoungGenerationGrow()
  const script = compile(LATER_FILE, laterFile)
  keepYoungGeneration()
  closeSync(laterFile)
  return run(script, LATER_FILE, findFirst)
}

assertComplete()
// Opened now and read later, because another version might be unpacked into this folder in between.
const laterFile = openSync(pathOf(LATER_FILE), 'r')
const script = compile(SERVICE_FILE, pathOf(SERVICE_FILE))
for (const name of START_MODULES) process.getBuiltinModule(name)
keepYoungGeneration()
const findFirst = run(script, SERVICE_FILE, (path) => (findLater ??= runLater())(path))
