import { ready } from '../../client/generated/index.ts'
import { asked } from './service.ts'

/** How often the service is asked whether it is back, and for how long, ms. */
const ASK_MS = 200
const PATIENCE_MS = 120_000

/** Waits until a service that begins anew takes work again. Resolves to false when it did not come back. */
export async function whenBack (): Promise<boolean> {
  for (const end = Date.now() + PATIENCE_MS; Date.now() < end;) {
    const isReady = await ready(asked()).then(() => true, () => false)
    if (isReady) return true
    await new Promise((resolve) => { setTimeout(resolve, ASK_MS) })
  }
  return false
}
