import { randomBytes } from 'node:crypto'

export const PASSPHRASE = 'correct horse battery'
const headers = { 'x-export-passphrase': PASSPHRASE }

/** A backup of a service. */
export async function exported (url: string, passphrase = PASSPHRASE): Promise<Buffer> {
  const response = await fetch(`${url}/export`, { headers: { 'x-export-passphrase': passphrase } })
  if (response.status !== 200) throw new Error(`${response.status}: ${await response.text()}`)
  return Buffer.from(await response.arrayBuffer())
}

/** Imports it; the status is 0 when the service went away over it. */
export async function imported (
  url: string,
  backup: Buffer,
  more: Record<string, string> = {},
  path = '/import'
): Promise<{ status: number, body: any }> {
  try {
    const response = await fetch(url + path, {
      method: 'POST',
      headers: { ...headers, 'content-type': 'application/octet-stream', ...more },
      body: new Uint8Array(backup)
    })
    return { status: response.status, body: await response.json() }
  } catch {
    return { status: 0, body: undefined }
  }
}

/** Waits until the service answers again, with what it then has. */
export async function until (url: string, holds: (facts: string[]) => boolean): Promise<void> {
  for (let left = 400; left > 0; left--) {
    const facts = await fetch(`${url}/memory/brain`).then(
      async (response) => response.status === 200 ? ((await response.json()) as any).brain.facts as string[] : undefined,
      () => undefined
    )
    if (facts !== undefined && holds(facts)) return
    await new Promise((resolve) => setTimeout(resolve, 25))
  }
  throw new Error('the service did not come back with the new data')
}

export async function post (url: string, path: string, body: object, method = 'POST') {
  const response = await fetch(url + path, { method, headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) })
  const text = await response.text()
  return { status: response.status, body: text.startsWith('{') ? JSON.parse(text) : text }
}

/** Text that takes about this many bytes of the disk, because it cannot be compressed further. */
export const noise = (bytes: number) => randomBytes(bytes).toString('base64')
