// A worker of a task run that does what no worker should, as WORKER_DOES says.
import { parentPort, type MessagePort } from 'node:worker_threads'

const ask = (port: MessagePort, id: number, action: string) => port.postMessage({ t: 'q', i: String(id), m: 'call', a: [action] })
const answered = (port: MessagePort) => new Promise<any>((resolve) => port.once('message', ({ r }) => resolve(r.value)))

/** Begins as a worker should, up to where the calls of the first step are to be run. */
async function upToCalls (port: MessagePort) {
  for (const [id, action] of ['next', 'step', 'next'].entries()) {
    ask(port, id, action)
    await answered(port)
  }
}

const DOES: Record<string, (port: MessagePort) => unknown> = {
  throw () {
    throw new Error('boom')
  },
  exit: () => process.exit(7),
  loop () {
    for (;;);
  },
  fill () {
    const all: object[] = []
    for (;;) all.push(Array.from({ length: 1000 }, () => ({})))
  },
  null: (port) => port.postMessage(null),
  'an answer': (port) => port.postMessage({ t: 's', i: 'x', r: 1 }),
  'another function': (port) => port.postMessage({ t: 'q', i: 'x', m: 'constructor', a: [] }),
  'another method': (port) => ask(port, 1, 'toString'),
  'no arguments': (port) => port.postMessage({ t: 'q', i: 'x', m: 'call', a: 'next' }),
  flood (port) {
    for (let n = 0; ; n++) ask(port, n, 'next')
  },
  'done at once': (port) => port.postMessage({ t: 'q', i: 'end', m: 'end', a: [] }),
  async 'twice at once' (port) {
    await upToCalls(port)
    ask(port, 3, 'settle')
    ask(port, 4, 'settle')
  },
  async 'dies in the middle' (port) {
    await upToCalls(port)
    ask(port, 3, 'settle')
    parentPort!.once('message', () => process.exit(7))
  }
}

parentPort!.once('message', (port: MessagePort) => {
  port.on('message', () => {})
  return DOES[process.env.WORKER_DOES!](port)
})
