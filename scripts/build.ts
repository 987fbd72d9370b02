import { copyFileSync, rmSync } from 'node:fs'
import { bundle, ROOT } from './bundle.ts'

rmSync(`${ROOT}dist`, { recursive: true, force: true })
await bundle({ server: 'boot.ts' }, 'dist')
copyFileSync(`${ROOT}openapi.json`, `${ROOT}dist/openapi.json`)
