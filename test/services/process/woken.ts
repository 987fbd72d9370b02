// The service, in the directory given, with nothing to do. Tells twice that its threads for files got work, and ends.
import { createHook } from 'node:async_hooks'
import { writeSync } from 'node:fs'
import { buildApp } from '../../../app.ts'

const [dir] = process.argv.slice(2)
let times = 0
createHook({
  init (_id, type) {
    if (type !== 'FSREQCALLBACK' || !new Error().stack!.includes('thread-pool')) return
    writeSync(1, 'woken\n')
    if (++times === 2) process.exit()
  }
}).enable()
const app = await buildApp({ host: '127.0.0.1', home: `${dir}/home`, cwd: dir })
await app.listen({ port: 0 })
