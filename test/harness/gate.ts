import type { Test } from 'tap'
import { build } from './helper.ts'
import { listen, sendRaw, type RawAnswer } from './raw.ts'

/** Would write a file at once, if it ran. */
export const WRITE = JSON.stringify({ messages: [{ role: 'user', content: "write 'x' to marker.txt" }] })
export const config = { permissions: { writeFile: 'allow' }, allowedOrigins: ['app://my.app', 'http://localhost:5173'] }

export async function start (t: Test, settings = {}) {
  const app = await build(t, { config, ...settings })
  return { app, port: await listen(app), marker: `${app.cwd}/marker.txt` }
}

export const run = (port: number, headers: string[], path = '/run') =>
  sendRaw(port, { method: 'POST', path, headers: [...headers, 'Content-Type: application/json'], body: WRITE })

export function refused (t: Test, answer: RawAnswer, status: number, code: string, message: string) {
  t.equal(answer.status, status, message)
  t.match(answer.headers['content-type'], /^application\/json/, `${message}: JSON`)
  t.match(answer.json(), { error: /^[A-Z].*\.$/s, code, statusCode: status }, `${message}: in the one shape`)
}
