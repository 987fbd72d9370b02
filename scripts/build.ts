import { execFile } from 'node:child_process'
import { rmSync } from 'node:fs'
import { createRequire } from 'node:module'
import { promisify } from 'node:util'
import { ROOT } from './bundle.ts'

const tsc = createRequire(import.meta.url).resolve('typescript/bin/tsc')

rmSync(`${ROOT}dist`, { recursive: true, force: true })
await Promise.all([
  import('./build-server.ts'),
  // Published as JavaScript with type declarations, so that users do not need TypeScript.
  ...['client', 'supervisor'].map((name) => promisify(execFile)(process.execPath, [tsc, '-p', ROOT + name]).catch(({ stdout }) => {
    throw new Error(`the ${name} was not built:\n${stdout}`)
  }))
])
