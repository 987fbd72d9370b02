import { readdirSync } from 'node:fs'
import type { Test } from 'tap'
import type { App } from '../../app.ts'
import { SAMPLES, type SampleFile } from '../harness/attached-files.ts'
import { build } from '../harness/helper.ts'
import { KINDS, type KindOfProvider, MODELS, startFiveProviders } from '../harness/with-five-providers.ts'

const PASSPHRASE = 'correct horse battery'
const headers = { 'x-export-passphrase': PASSPHRASE, 'content-type': 'application/octet-stream' }

/** What a model was sent of a file. */
export type Carried = 'file' | 'text' | 'line' | 'nothing'
export interface Cell {
  type: string
  kind: KindOfProvider
  /** The status of the message with the file. */
  sent: number
  /** What the second call of the same provider carried, and the calls after a change of provider, a reload, and an import. */
  second: Carried
  changed: Carried
  reloaded: Carried
  imported: Carried
}

const NEXT = { role: 'user', content: 'And now?' }

function carried (body: object, { bytes }: SampleFile): Carried {
  const text = JSON.stringify(body)
  if (text.includes(bytes.toString('base64'))) return 'file'
  if (/\[Attached file \\"[^\]]*was left out/.test(text)) return 'line'
  return text.includes('heron') && text.includes('[Attached file') ? 'text' : 'nothing'
}

/**
 * Sends each file to each kind of provider, says something more, changes the provider, sends the whole conversation again as a page that
 * was reloaded does, exports and imports all, and deletes the conversation. Every call after the first must be answered with 200.
 */
export async function attachmentTable (t: Test, samples: SampleFile[] = SAMPLES): Promise<Cell[]> {
  const { lastBody, ...providers } = await startFiveProviders(t)
  const settings = { ...providers, gatewayKey: 'the-key' }
  const app = await build(t, settings)
  const cells: Cell[] = []
  const addresses = new Map<SampleFile, string>()
  for (const sample of samples) {
    const stored = await upload(app, sample)
    t.match(stored.json(), { bytes: sample.bytes.length, mediaType: sample.mediaType, name: sample.name })
    addresses.set(sample, stored.json().url)
  }
  const place = (id: string) => `/threads/${encodeURIComponent(id)}`
  const run = (service: App, id: string, kind: KindOfProvider, body: object) =>
    service.inject({ method: 'POST', url: '/run/sync', payload: { id, options: { model: MODELS[kind] }, ...body } })
  /** Says something more, which must be answered. */
  const say = async (service: App, id: string, kind: KindOfProvider, sample: SampleFile, said: object = { message: NEXT }) => {
    const { statusCode, body } = await run(service, id, kind, said)
    t.equal(statusCode, 200, `${id} ${kind} ${body.slice(0, 300)}`)
    return carried(lastBody(kind), sample)
  }
  const after = (kind: KindOfProvider) => KINDS[(KINDS.indexOf(kind) + 1) % KINDS.length]

  for (const sample of samples) {
    for (const kind of KINDS) {
      const id = `${sample.name} ${kind}`
      const file = { type: 'file', url: addresses.get(sample)!, mediaType: sample.mediaType, filename: sample.name }
      const message = { id: 'm1', role: 'user', parts: [{ type: 'text', text: 'What is this?' }, file] }
      const { statusCode: sent, body } = await run(app, id, kind, { message })
      if (sent !== 200) {
        t.match(JSON.parse(body), { statusCode: 400, code: 'ERR_ATTACHMENT_REFUSED' }, id)
        t.equal((await app.inject(place(id))).statusCode, 404, `${id}: nothing was stored`)
        await app.inject({ method: 'PUT', url: place(id), payload: { messages: [message] } })
      }
      const second = await say(app, id, kind, sample)
      const changed = await say(app, id, after(kind), sample)
      const { messages } = (await app.inject(place(id))).json()
      const reloaded = await say(app, id, kind, sample, { messages: [...messages, NEXT] })
      cells.push({ type: sample.mediaType, kind, sent, second, changed, reloaded, imported: 'nothing' })
    }
  }

  const backup = (await app.inject({ url: '/export', headers: { 'x-export-passphrase': PASSPHRASE } })).rawPayload
  await app.close()
  const importing = await build(t, settings)
  t.match((await importing.inject({ method: 'POST', url: '/import', headers, payload: backup })).json(), { status: 'imported' })
  const { home } = importing
  await importing.close()
  const next = await build(t, { ...settings, config: undefined, home })
  for (const cell of cells) {
    const sample = samples.find(({ mediaType }) => mediaType === cell.type)!
    const id = `${sample.name} ${cell.kind}`
    cell.imported = await say(next, id, cell.kind, sample)
    await next.inject({ method: 'DELETE', url: place(id) })
    const { statusCode } = await next.inject(`/attachments/${addresses.get(sample)!.slice('attachment:'.length)}`)
    t.equal(statusCode, cell.kind === KINDS.at(-1) ? 404 : 200, `${id}: it is kept as long as a conversation names it`)
  }
  t.same(readdirSync(`${home}/attachments`), [], 'no file is left')
  return cells
}

export async function upload (app: App, { mediaType, name, bytes }: SampleFile) {
  return app.inject({
    method: 'POST',
    url: '/attachments',
    headers: { 'content-type': mediaType, 'x-filename': encodeURIComponent(name) },
    payload: bytes
  })
}
