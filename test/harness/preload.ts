import { enableCompileCache } from 'node:module'
import { fileURLToPath } from 'node:url'

// Loaded before each test file (.taprc), so that tap's instruments stay in the processes that they measure.

interface Spawned {
  args: readonly string[]
  env: NodeJS.ProcessEnv
}

const INSTRUMENTS = /\s*"?--import=[^"]*@tapjs\/processinfo[^"]*"?/
const cache = (name: string) => fileURLToPath(new URL(`../../.tap/compiled/${name}`, import.meta.url))
// Compiled code of processes without coverage lacks what coverage counts, so each kind has a folder of its own.
const PLAIN = cache('plain')
const OWN = process.env._TAPJS_PROCESSINFO_COVERAGE_ === '1' ? cache('measured') : PLAIN

enableCompileCache(OWN)
process.env.NODE_COMPILE_CACHE = PLAIN

// Threads would load what it names, although they are not measured.
withoutInstruments(process.env)

// tap adds its instruments to the environment of every child. Only children that run the sources are measured.
const spawns = Reflect.get(globalThis, Symbol.for('process-on-spawn@*:singletonId')) as { listeners: Array<(spawned: Spawned) => void> }
spawns.listeners.push((spawned) => {
  if (spawned.args.some((arg) => arg.includes('.ts'))) {
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
