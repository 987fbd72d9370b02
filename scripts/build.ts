import { execFile } from 'node:child_process'
import { rmSync } from 'node:fs'
import { createRequire } from 'node:module'
import { promisify } from 'node:util'
import { ROOT } from './bundle.ts'

const tsc = createRequire(import.meta.url).resolve('typescript/bin/tsc')

rmSync(`${ROOT}dist`, { recursive: true, force: true })
await Promise.all([
  import('./build-server.ts'),
  // The client is published as JavaScript with type declarations, so that its users do not need TypeScript.
  promisify(execFile)(process.execPath, [tsc, '-p', `${ROOT}client`]).catch(({ stdout }) => {
    throw new Error(`the client was not built:\n${stdout}`)
  })
])
