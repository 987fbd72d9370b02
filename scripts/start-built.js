import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

// Builds the service in a process that ends if a source is newer, then is the service as it is shipped. This file is JavaScript, because
// Node's support for TypeScript would stay in the memory of the service.

const root = new URL('..', import.meta.url)
const SOURCES = [
  'app.ts',
  'bin',
  'client',
  'console',
  'server.ts',
  'settings.ts',
  'package.json',
  'openapi.json',
  'plugins',
  'routes',
  'schemas',
  'services',
  'workers',
  'scripts'
]

/** Returns the modification time of a file, or of the newest file in a folder, in ms since the epoch; 0 when there is none. */
function writtenAt (path) {
  const stats = statSync(new URL(path, root), { throwIfNoEntry: false })
  if (!stats?.isDirectory()) return stats?.mtimeMs ?? 0
  return Math.max(stats.mtimeMs, ...readdirSync(new URL(path, root)).map((name) => writtenAt(`${path}/${name}`)))
}

/** Returns the packages of package.json that are not in node_modules. */
function missingPackages () {
  const { dependencies, devDependencies } = JSON.parse(readFileSync(new URL('package.json', root), 'utf8'))
  return Object.keys({ ...dependencies, ...devDependencies })
    .filter((name) => !existsSync(new URL(`node_modules/${name}/package.json`, root)))
}

/** Returns the process id of npm: of this process's parent, or of the parent of the shell in between. */
function npmPid () {
  try {
    const [, name, rest] = /^\d+ \((.*)\) \S (.*)/s.exec(readFileSync(`/proc/${process.ppid}/stat`, 'utf8'))
    if (/^(?:sh|dash|bash|busybox)$/.test(name)) return Number(rest.split(' ')[0])
  } catch {}
  return process.ppid
}

if (Math.max(...SOURCES.map(writtenAt)) > writtenAt('dist/server.js')) {
  const { spawnSync } = await import('node:child_process')
  // The ready line of the service is the first line of standard output.
  const { status, stderr } = spawnSync(process.execPath, [fileURLToPath(new URL('scripts/build-server.ts', root))], {
    stdio: ['ignore', 2, 'pipe']
  })
  const [missing] = status === 0 ? [] : missingPackages()
  process.stderr.write(missing === undefined ? stderr : `The package ${missing} is not installed. Run npm ci, then npm start.\n`)
  if (status !== 0) process.exit(missing === undefined ? status ?? 1 : 72)
}
// A signal that ends npm does not reach the service.
const hasParent = process.argv.some((argument) => /^--(?:parent-pid|stdin)\b/.test(argument))
if (process.env.npm_lifecycle_event === 'start' && !hasParent) process.argv.push('--parent-pid', String(npmPid()))
await import(new URL('dist/server.js', root).href)
