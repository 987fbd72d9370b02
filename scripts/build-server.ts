import { copyFileSync, mkdirSync, readdirSync, rmSync } from 'node:fs'
import { bundle, ROOT } from './bundle.ts'

const dist = `${ROOT}dist/`

// The chunks of the build before; the client lies in a folder of its own.
mkdirSync(dist, { recursive: true })
for (const entry of readdirSync(dist, { withFileTypes: true })) if (entry.isFile()) rmSync(dist + entry.name)
await bundle({ server: 'boot.ts', salvage: 'services/store/salvage.ts', 'workers/task': 'workers/task.ts', 'workers/transform': 'workers/transform.ts', 'workers/desktop': 'workers/desktop.ts' }, 'dist')
copyFileSync(`${ROOT}openapi.json`, `${dist}openapi.json`)
