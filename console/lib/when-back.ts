import { ready } from '../../client/generated/index.ts'
import { asked } from './service.ts'

/** How often the service is asked whether it is back, and for how long, in milliseconds. */
const ASK_MS = 200
const PATIENCE_MS = 120_000

/** Waits until a service that restarts is ready. Resolves to false if it does not come back in time. */
export async function whenBack (): Promise<boolean> {
  for (const end = Date.now() + PATIENCE_MS; Date.now() < end;) {
    const isReady = await ready(asked()).then(() => true, () => false)
    if (isReady) return true
    await new Promise((resolve) => { setTimeout(resolve, ASK_MS) })
  }
  return false
}
