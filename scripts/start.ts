import { readdirSync, statSync } from 'node:fs'

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
function writtenAt (path: string): number {
  const stats = statSync(new URL(path, root), { throwIfNoEntry: false })
  if (!stats?.isDirectory()) return stats?.mtimeMs ?? 0
  return Math.max(stats.mtimeMs, ...readdirSync(new URL(path, root)).map((name) => writtenAt(`${path}/${name}`)))
}

if (Math.max(...SOURCES.map(writtenAt)) > writtenAt('dist/server.js')) await import('./build-server.ts')
await import(new URL('dist/server.js', root).href)
