import { randomBytes } from 'node:crypto'
import { build } from './helper.ts'
import { listen } from './raw.ts'
import { offerPairing } from '../../services/reach/pairing-file.ts'

export const newKey = () => randomBytes(32).toString('base64url')
export const newSecret = () => randomBytes(16).toString('base64url')

export interface Reply {
  status: number
  body: any
  headers: Headers
}

/** Sends a request to the port for devices, as its page does. */
export async function send (url: string, method: string, path: string, { key, body, headers }: {
  key?: string,
  body?: unknown,
  headers?: Record<string, string>
} = {}): Promise<Reply> {
  const response = await fetch(`${url}${path}`, {
    method,
    headers: {
      ...key !== undefined && { authorization: `Bearer ${key}` },
      ...body !== undefined && { 'content-type': 'application/json' },
      ...headers
    },
    ...body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }
  })
  const text = await response.text()
  const isJson = response.headers.get('content-type')?.startsWith('application/json') && text !== ''
  return { status: response.status, headers: response.headers, body: isJson ? JSON.parse(text) : text }
}

/** A paired device. `where` returns the current address of the port for devices. */
export function deviceOf (where: () => string, key: string, deviceId = '') {
  const get = (path: string) => send(where(), 'GET', path, { key })
  const post = (path: string, body: unknown) => send(where(), 'POST', path, { key, body })
  return {
    key,
    deviceId,
    get,
    post,
    list: async (): Promise<any[]> => (await get('/requests')).body.requests,
    look: (id: string) => get(`/requests/${id}`),
    /** Answers an approval with the digest of what was shown. Requests it first if it was not shown yet. */
    async answer (id: string, answer: string, shown?: { digest: string }): Promise<Reply> {
      const { digest } = shown ?? (await get(`/requests/${id}`)).body
      return post(`/requests/${id}`, { answer, digest })
    }
  }
}
export type Phone = ReturnType<typeof deviceOf>

/** Pairs a device with a code, as `local-agent reach` and the page do. */
export async function pairDevice (home: string, where: () => string, name = 'phone', now = Date.now()): Promise<Phone> {
  const [secret, key] = [newSecret(), newKey()]
  await offerPairing(home, secret, now)
  const { status, body } = await send(where(), 'POST', '/pair', { body: { secret, key, name } })
  if (status !== 201) throw new Error(`${name} was not paired: ${status} ${JSON.stringify(body)}`)
  return deviceOf(where, key, body.deviceId)
}

/** Starts the service with an open port for devices. */
export async function openReach (t: Parameters<typeof build>[0], settings: Parameters<typeof build>[1] = {}) {
  const app = await build(t, { ...settings, config: { reach: { port: 0 }, ...settings.config } })
  return { app, ...await reachOf(app) }
}

export async function reachOf (app: Awaited<ReturnType<typeof build>>) {
  await listen(app)
  const { url } = (await app.inject('/devices')).json()
  const pair = (name?: string) => pairDevice(app.home, () => url, name, app.clock.now())
  return { url: url as string, port: Number(new URL(url).port), pair }
}
