import type { Test } from 'tap'
import { build } from './helper.ts'
import { listen, sendRaw, type RawAnswer } from './raw.ts'

/** A request body that would make the agent write a file at once. */
export const WRITE = JSON.stringify({ model: 'offline/assistant', messages: [{ role: 'user', content: "write 'x' to marker.txt" }] })
export const config = { permissions: { writeFile: 'allow' }, allowedOrigins: ['app://my.app', 'http://localhost:5173'] }

export async function start (t: Test, settings = {}) {
  const app = await build(t, { config, ...settings })
  return { app, port: await listen(app), marker: `${app.cwd}/marker.txt` }
}

export const run = (port: number, headers: string[], path = '/run') =>
  sendRaw(port, { method: 'POST', path, headers: [...headers, 'Content-Type: application/json'], body: WRITE })

/** Sends the request to each route through which an agent can be reached. */
export const attack = async (port: number, headers: string[]) => [
  await run(port, headers),
  await run(port, headers, '/v1/chat/completions')
]

/**
 * Asserts that every route has refused the request. Routes under `/v1` answer in OpenAI's shape, unless the request was refused before
 * routing.
 */
export function refused (t: Test, answers: RawAnswer | RawAnswer[], status: number, code: string, message: string) {
  for (const [nth, answer] of [answers].flat().entries()) {
    t.equal(answer.status, status, message)
    t.match(answer.headers['content-type'], /^application\/json/, `${message}: JSON`)
    const sentence = /^[A-Z].*\.$/s
    const shape = nth === 1 && typeof answer.json().error === 'object'
      ? { error: { message: sentence, code } }
      : { error: sentence, code, statusCode: status }
    t.match(answer.json(), shape, `${message}: in its shape`)
  }
}
