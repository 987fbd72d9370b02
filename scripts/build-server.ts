import { copyFileSync, mkdirSync, readdirSync, rmSync } from 'node:fs'
import { bundle, bundleFirst, bundleWhole, ROOT } from './bundle.ts'

const dist = `${ROOT}dist/`

// Removes the files of the previous build. The client's build is in a folder of its own and stays.
mkdirSync(dist, { recursive: true })
for (const entry of readdirSync(dist, { withFileTypes: true })) if (entry.isFile()) rmSync(dist + entry.name)
await bundleFirst('bin/local-agent.ts', 'dist/server.js', { '../server.ts': './main.js', './rotate-key.ts': './rotate-key.js' })
const service = await bundleWhole('server.ts', 'dist')
await bundle({ main: 'bin/load-service.ts' }, 'dist', { SERVICE_FILE: JSON.stringify(service) })
await bundle({
  'rotate-key': 'bin/rotate-key.ts',
  salvage: 'services/store/recovery/salvage-child.ts',
  'workers/transform': 'workers/transform.ts',
  'workers/desktop': 'workers/desktop.ts'
}, 'dist')
// A file of its own without chunks: a worker reads and compiles it for every run of a task.
await bundle({ 'workers/task': 'workers/task.ts' }, 'dist')
copyFileSync(`${ROOT}openapi.json`, `${dist}openapi.json`)
