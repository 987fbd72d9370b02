import { readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire, getCompileCacheDir } from 'node:module'
import { basename, dirname, join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { constants, Script } from 'node:vm'
import { crc32 } from 'node:zlib'
import { keepYoungGeneration, letYoungGenerationGrow } from '../services/process/young-generation.ts'

// Runs the bundle of the service with the machine code and bytecode of an earlier process. Node's compile cache holds what is
// compiled before a module runs, but V8 compiles most functions when they are first called: these are two thirds of the code
// that a start compiles.

/** The name of the bundle, which holds a digest of its content. Set by the build. */
declare const SERVICE_FILE: string

/**
 * Times after the start of the process at which the compiled code is stored if none was there: the warm-up has run by the first of
 * them, and probably some requests by the others. Each holds the event loop for some 60 ms.
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

const file = fileURLToPath(new URL(SERVICE_FILE, import.meta.url))
// Undefined when the folder cannot be used. It names the version of Node.
const folder = getCompileCacheDir()
const cacheFile = folder && join(folder, `${SERVICE_FILE}.code`)

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
function save (path: string) {
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
    for (const name of readdirSync(dirname(path))) {
      if (/^service-.*\.code/.test(name) && name !== basename(path)) rmSync(join(dirname(path), name))
    }
  } catch {}
}

/** Compiles the bundle. In a function, so that the stored code does not stay in memory. */
function compile (): Script {
  const cachedData = cacheFile === undefined ? undefined : load(cacheFile)
  // The bundle is ASCII, so each byte is a character.
  const script = new Script(readFileSync(file, 'latin1'), {
    filename: file,
    cachedData,
    importModuleDynamically: constants.USE_MAIN_CONTEXT_DEFAULT_LOADER
  })
  if (cacheFile !== undefined && (cachedData === undefined || script.cachedDataRejected)) {
    for (const ms of SAVE_MS) setTimeout(save, ms, cacheFile).unref()
  }
  return script
}

const script = compile()
for (const name of START_MODULES) process.getBuiltinModule(name)
keepYoungGeneration()
script.runInThisContext()(createRequire(file), file, dirname(file), pathToFileURL(file).href)
