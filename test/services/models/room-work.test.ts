import { execFileSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import t from 'tap'

const SCRIPT = fileURLToPath(new URL('room-work.ts', import.meta.url))

/** How much is done to make a conversation of so many messages fit: not how long it takes, but how often anything is. */
function workOf (messages: number, answer: string): number {
  const { NODE_V8_COVERAGE, ...env } = process.env
  return Number(execFileSync(process.execPath, [SCRIPT, `${messages}`, answer], { env, encoding: 'utf8' }))
}

for (const answer of ['problem', 'summary']) {
  t.test(`a conversation four times as long is four times the work to make fit (${answer})`, async (t) => {
    const [some, more] = [1_000, 4_000].map((messages) => workOf(messages, answer))
    t.ok(some > 10_000, `${some}`)
    t.ok(more / some < 4.4, `${some}, then ${more}: ${(more / some).toFixed(2)}`)
  })
}
