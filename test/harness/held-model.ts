import type { Test } from 'tap'
import { startFakeGateway } from '../fakes/gateway.ts'
import type { Plan } from '../fakes/gateway-plan.ts'

/** A model that works for as long as the test lets it, and remembers what it was told. */
export async function heldModel (t: Test) {
  const told: string[] = []
  const calls: Array<(plan: Plan) => void> = []
  let more = Promise.withResolvers<void>()
  const gateway = await startFakeGateway({
    reply: ({ structured, body }) => {
      if (structured !== undefined) return undefined
      told.push(JSON.stringify(body.prompt))
      const { promise, resolve } = Promise.withResolvers<Plan>()
      calls.push(resolve)
      more.resolve()
      more = Promise.withResolvers()
      return promise
    }
  })
  t.teardown(() => gateway.close())
  return {
    parts: { gatewayKey: 'the-key', gatewayBaseURL: gateway.url, config: { model: 'test/model', analysis: false } },
    told,
    /** Resolves once so many calls have begun. */
    async begun (count: number) {
      while (told.length < count) await more.promise
    },
    finish: (n: number) => calls[n]({ text: 'It is done.' }),
    fail: (n: number) => calls[n]({ error: { status: 400, message: 'no' } })
  }
}
