import { randomInt } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:http'

/** Returns a free port below the range from which systems assign ports, so that no other test gets it in the meantime. */
export async function freePort (): Promise<string> {
  for (;;) {
    const port = randomInt(20_000, 32_000)
    const server = createServer().listen(port)
    const isFree = await once(server, 'listening').then(() => true, () => false)
    if (!isFree) continue
    server.close()
    await once(server, 'close')
    return String(port)
  }
}
