import asyncHooks from 'node:async_hooks'
import { readFileSync } from 'node:fs'
import { enableCompileCache, registerHooks, syncBuiltinESMExports } from 'node:module'
import { fileURLToPath } from 'node:url'

// Loaded before each test file (.taprc), so that tap's instrumentation affects only the processes that are measured.

interface Spawned {
  args: readonly string[]
  env: NodeJS.ProcessEnv
}

const INSTRUMENTS = /\s*"?--import=[^"]*@tapjs\/processinfo[^"]*"?/
const cache = (name: string) => fileURLToPath(new URL(`../../.tap/compiled/${name}`, import.meta.url))
// Code compiled without coverage lacks the counters of coverage, so each kind has its own cache folder.
const PLAIN = cache('plain')
const isMeasured = process.env._TAPJS_PROCESSINFO_COVERAGE_ === '1'
const OWN = isMeasured ? cache('measured') : PLAIN

enableCompileCache(OWN)
process.env.NODE_COMPILE_CACHE = PLAIN

// tap tracks every promise, to assign an uncaught error to one of several tests in a file. That takes a fifth of the time of most tests.
// Without the tracking, tap fails the last test that the file has started; the stack of the error shows its origin.
asyncHooks.createHook = () => ({ enable () { return this }, disable () { return this } })
asyncHooks.executionAsyncId = () => 0
syncBuiltinESMExports()

// tap enables source maps, which each assertion would look up for its stack. Node strips types in place, so line numbers are correct
// without them.
process.setSourceMapsEnabled(false)

// Worker threads would load the instruments that this variable names, although they are not measured.
withoutInstruments(process.env)

// The service has 800 files of its own. Their import paths are complete, so they need no resolution, and tap records them only for
// coverage.
if (!isMeasured) {
  registerHooks({
    resolve: (path, context, next) =>
      path.startsWith('.') && path.endsWith('.ts') && context.conditions.includes('import')
        ? { url: new URL(path, context.parentURL).href, format: 'module-typescript', shortCircuit: true }
        : next(path, context),
    load: (url, context, next) =>
      url.startsWith('file:') && url.endsWith('.ts')
        ? { format: 'module-typescript', source: readFileSync(fileURLToPath(url)), shortCircuit: true }
        : next(url, context)
  })
}

// tap adds its instruments to the environment of every child. Only children that run the sources need them.
const spawns = Reflect.get(globalThis, Symbol.for('process-on-spawn@*:singletonId')) as { listeners: Array<(spawned: Spawned) => void> }
spawns.listeners.push((spawned) => {
  if (isMeasured && spawned.args.some((arg) => arg.includes('.ts'))) {
    if (spawned.env.NODE_COMPILE_CACHE) spawned.env = { ...spawned.env, NODE_COMPILE_CACHE: OWN }
    return
  }
  const env = Object.fromEntries(Object.entries(spawned.env).filter(([name]) => !name.startsWith('_TAPJS_')))
  withoutInstruments(env)
  spawned.env = env
})

function withoutInstruments (env: NodeJS.ProcessEnv) {
  const rest = env.NODE_OPTIONS?.replace(INSTRUMENTS, '')
  if (rest) env.NODE_OPTIONS = rest
  else delete env.NODE_OPTIONS
}
