import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { ASSETS, swaggerFolder } from '../services/http/docs/docs.ts'
import { bundle, bundled, bundleFirst, bundleInParts, bundleProgram, digestOf, legalComments, ROOT } from './bundle.ts'
import { bundleConsole } from './bundle-console.ts'
import { bundleHalves } from './bundle-halves.ts'
import { bundleDevicePage } from './bundle-device-page.ts'
import { noticesOf } from './notices.ts'

const dist = `${ROOT}dist/`

// Removes the files of the previous build, except for the client, which has its own folder and its own build.
mkdirSync(dist, { recursive: true })
for (const entry of readdirSync(dist, { withFileTypes: true })) if (entry.isFile()) rmSync(dist + entry.name)

// Removes the indentation, which is almost half of the document.
const document = Buffer.from(JSON.stringify(JSON.parse(readFileSync(`${ROOT}openapi.json`, 'utf8'))))
const [consoleFiles, devicePage, transform, task, desktop, salvage, boxForwarder, portRelay] = await Promise.all([
  bundleConsole(),
  bundleDevicePage(),
  bundleInParts('workers/transform.ts', 'workers/transform'),
  ...['task', 'desktop', 'salvage', 'box-forwarder', 'port-relay'].map((name) => bundleProgram(`workers/${name}.ts`))
])
const packed = new Map<string, Uint8Array>([
  ...consoleFiles,
  ...devicePage,
  ...transform,
  ['workers/task.cjs', task],
  ['workers/desktop.cjs', desktop],
  ['workers/salvage.cjs', salvage],
  ['workers/box-forwarder.cjs', boxForwarder],
  ['workers/port-relay.cjs', portRelay],
  ['openapi.json', gzipSync(document, { level: 9 })]
])
for (const name of Object.keys(ASSETS)) {
  const path = join(swaggerFolder(), name)
  packed.set(`docs/${name}`, gzipSync(readFileSync(path), { level: 9 }))
  bundled.add(path.slice(ROOT.length).replaceAll('\\', '/'))
}
const index: Record<string, [start: number, length: number]> = {}
let end = 0
for (const [name, { length }] of packed) {
  index[name] = [end, length]
  end += length
}
const pack = Buffer.concat([...packed.values()])
const packFile = `pack-${digestOf(pack)}.bin`
writeFileSync(dist + packFile, pack)
const PACK = JSON.stringify({ file: packFile, index })

const { first, later } = await bundleHalves('server.ts', { PACK })
const digest = digestOf(first, later)
const [SERVICE_FILE, LATER_FILE] = [`service-${digest}.cjs`, `later-${digest}.cjs`]
writeFileSync(dist + SERVICE_FILE, first)
writeFileSync(dist + LATER_FILE, later)
const FILES = JSON.stringify({ [SERVICE_FILE]: first.length, [LATER_FILE]: later.length, [packFile]: pack.length })
await Promise.all([
  bundleFirst('bin/local-agent.ts', 'dist/server.js', {
    '../server.ts': './main.js',
    './rotate-key.ts': './rotate-key.js',
    './acp.ts': './acp.js',
    './reach.ts': './reach.js'
  }),
  bundle({ acp: 'bin/acp.ts', reach: 'bin/reach.ts', 'rotate-key': 'bin/rotate-key.ts' }, 'dist', { define: { PACK }, splitting: true }),
  bundle({ main: 'bin/load-service.ts' }, 'dist', {
    define: { SERVICE_FILE: JSON.stringify(SERVICE_FILE), LATER_FILE: JSON.stringify(LATER_FILE), FILES }
  })
])
writeFileSync(`${dist}openapi.json`, document)
writeFileSync(`${dist}THIRD-PARTY-NOTICES`, noticesOf(bundled, legalComments))
writeFileSync(`${dist}bundled.json`, JSON.stringify([...bundled].sort(), null, 2))
