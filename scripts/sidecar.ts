import { execFileSync } from 'node:child_process'
import { copyFileSync, cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { parseArgs } from 'node:util'
import { gzipSync } from 'node:zlib'
import { ROOT } from './bundle.ts'
import { makeExecutable } from './executable.ts'

// npm run sidecar: makes an archive for this platform with the built service, Node, and one executable that starts the service. An archive
// for Windows can be made on another system: `-- --for win32-x64 --node <its node.exe> --out <folder>`.

const require = createRequire(import.meta.url)
const { name, version, dependencies, optionalDependencies } = JSON.parse(readFileSync(`${ROOT}package.json`, 'utf8'))
const { values } = parseArgs({ options: { for: { type: 'string' }, node: { type: 'string' }, out: { type: 'string' } } })
const target = values.for ?? `${process.platform}-${process.arch}`
const [platform, arch] = target.split('-')
const ownNode = target === `${process.platform}-${process.arch}` ? process.execPath : undefined
const node = values.node ?? ownNode ?? ''
if (node === '') throw new Error(`An archive for ${target} needs --node, the Node of that system.`)
if (ownNode === undefined && platform !== 'win32') throw new Error('Archives for macOS and Linux are made on these systems.')
const folder = `local-agent-${version}-${target}`
const out = values.out ?? join(ROOT, 'dist/sidecar')
const top = join(out, folder)
const lib = join(top, 'lib')

rmSync(out, { recursive: true, force: true })
mkdirSync(join(lib, 'dist'), { recursive: true })
writeFileSync(join(lib, 'package.json'), JSON.stringify({ name, version, type: 'module' }))
for (const entry of readdirSync(`${ROOT}dist`, { withFileTypes: true })) {
  if (entry.isFile() && entry.name !== 'bundled.json') copyFileSync(`${ROOT}dist/${entry.name}`, join(lib, 'dist', entry.name))
}
for (const native of Object.keys({ ...dependencies, ...optionalDependencies })) copyNative(native)
copyPackage('node-gyp-build')
for (const file of ['LICENSE', 'README.md', 'dist/THIRD-PARTY-NOTICES']) copyFileSync(ROOT + file, join(top, file.replace('dist/', '')))
copyFileSync(nodeLicense(), join(top, 'LICENSE-node'))
const kind = await makeExecutable(top, out, { platform: platform as NodeJS.Platform, arch, node })
const archive = join(out, `${folder}.tar.gz`)
writeFileSync(archive, gzipSync(execFileSync('tar', ['-cf', '-', '-C', out, folder], { maxBuffer: 2 ** 30 })))
console.log(`${archive.replace(ROOT, '')}: ${(statSync(archive).size / 1e6).toFixed(1)} MB, ${kind}`)

/** Copies the files that a native package needs at run time: its scripts and the binaries for this platform. */
function copyNative (name: string) {
  const source = packageFolder(name)
  if (!existsSync(source)) return console.log(`${name} is not installed and left out.`)
  const compiled = readdirSync(join(source, 'prebuilds')).find((each) => each.startsWith(`${platform}-`) && each.includes(arch))
  if (compiled === undefined) throw new Error(`${name} has no binary for ${platform}-${arch}.`)
  copyPackage(name)
  cpSync(join(source, 'prebuilds', compiled), join(lib, 'node_modules', name, 'prebuilds', compiled), { recursive: true })
}

/** Copies the scripts and all licence files of a package. */
function copyPackage (name: string) {
  const [source, target] = [packageFolder(name), join(lib, 'node_modules', name)]
  for (const entry of readdirSync(source, { withFileTypes: true, recursive: true })) {
    const path = join(entry.parentPath, entry.name)
    const isScript = entry.parentPath === source && /\.(js|json)$/.test(entry.name)
    if (!entry.isFile() || !(isScript || /[\\/](licen[cs]e|copying|notice|authors)/i.test(path.slice(source.length)))) continue
    cpSync(path, join(target, path.slice(source.length)))
  }
}

function packageFolder (name: string): string {
  return join(ROOT, 'node_modules', name)
}

/** Returns the licence of Node, from a Node package or distribution. */
function nodeLicense (): string {
  const places = [
    join(dirname(require.resolve('node/package.json')), `node_modules/node-${platform}-${arch}/LICENSE`),
    join(ROOT, `node_modules/node-${platform}-${arch}/LICENSE`),
    ...[node, process.execPath].flatMap((path) => ['../LICENSE', 'LICENSE'].map((name) => join(dirname(path), name))),
    // The licence is the same for every system.
    join(dirname(require.resolve('node/package.json')), `node_modules/node-${process.platform}-${process.arch}/LICENSE`),
    join(ROOT, `node_modules/node-${process.platform}-${process.arch}/LICENSE`)
  ]
  const found = places.find((path) => existsSync(path))
  if (found === undefined) throw new Error(`The licence of Node must go with it, but was not found; \`npm ci\` installs it: ${places[0]}`)
  return found
}
