import { record } from './record-examples.ts'

/** An event of a stream, parsed from its `data:` line. */
export interface Sent {
  type: string
  [field: string]: any
}

/** Posts JSON and reads the events of the response to the end, or until the connection is cut. */
export async function postEvents (
  url: string,
  body: unknown,
  headers: Record<string, string> = {}
): Promise<{ status: number, headers: Headers, events: Sent[], text: string, cut: boolean }> {
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body)
  })
  let text = ''
  let cut = false
  const decoder = new TextDecoder()
  try {
    for await (const chunk of response.body!) text += decoder.decode(chunk, { stream: true })
  } catch {
    cut = true
  }
  return { status: response.status, headers: response.headers, events: parseEvents(text), text, cut }
}

/** Parses the events in the text of a stream; comment lines are ignored. */
export function parseEvents (text: string): Sent[] {
  const events = [...text.matchAll(/^data: ([^\n]*)/gm)].map(([, data]) => JSON.parse(data))
  for (const event of events) record({ event })
  return events
}

/** Returns the types of events. Consecutive equal types appear once. */
export function kinds (events: Sent[]): string[] {
  return events.map(({ type }) => type).filter((type, at, all) => type !== all[at - 1])
}

/** Returns the text of the answer. */
export function textOf (events: Sent[]): string {
  return events.filter(({ type }) => type === 'text-delta').map(({ content }) => content).join('')
}

/** Normalizes events: joins consecutive pieces of the same text, as a replay does. */
export function told (events: Sent[]): Sent[] {
  const joined: Sent[] = []
  for (const event of events) {
    const last = joined.at(-1)
    if (event.type === 'text-delta' && last?.type === 'text-delta' && last.id === event.id) {
      joined[joined.length - 1] = { ...last, delta: last.delta + event.delta, content: last.content + event.content }
    } else joined.push(event)
  }
  return joined
}
