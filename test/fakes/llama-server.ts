import { closeSync, existsSync, openSync, readFileSync, readSync, writeFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { startFakeOpenAI } from './openai.ts'

// A stand-in for llama.cpp's server with one model (`llama-server -m <file> --api-key-file <file>`). It reads the model file and reports on
// stderr why it cannot. It answers chats that carry the key with its own process id. Tests use these files beside MODEL:
// MODEL.pid   written at the start: the process id
// MODEL.hold  while this file exists, loading does not end
// MODEL.slow  written for a request with the word "slow", whose answer has many pieces; the next such request is answered at once
// MODEL.mute  written for a request with the word "mute", which gets no answer; the next such request is answered

const { values } = parseArgs({
  args: process.argv.slice(2).map((arg) => /^-(?:c|np|m|t)$/.test(arg) && arg.length > 2 ? `-${arg}` : arg),
  strict: false,
  options: {
    m: { type: 'string', short: 'm' },
    c: { type: 'string', short: 'c' },
    t: { type: 'string', short: 't' },
    np: { type: 'string' },
    host: { type: 'string' },
    port: { type: 'string' },
    alias: { type: 'string' },
    'api-key-file': { type: 'string' }
  }
})
const model = values.m as string
writeFileSync(`${model}.pid`, `${process.pid}`)

/** Returns the beginning of the model file, because some files are as large as the memory. */
function contentOf (path: string): string {
  const bytes = Buffer.alloc(64 * 1024)
  const file = openSync(path, 'r')
  readSync(file, bytes)
  closeSync(file)
  return bytes.toString('latin1').replace(/\0+$/, '')
}

const content = contentOf(model)
if (content.includes('CUT OFF')) {
  process.stderr.write(
    "0.00.048.474 E llama_model_load: error loading model: tensor 'token_embd.weight' data is not within the file bounds, model is " +
      'corrupted or incomplete\n0.00.049.043 E srv  llama_server: exiting due to model loading error\n'
  )
  process.exit(1)
}
const server = await startFakeOpenAI({
  port: Number(values.port),
  apiKey: readFileSync(values['api-key-file'] as string, 'utf8').trim(),
  others: {
    '/props': () =>
      existsSync(`${model}.hold`)
        ? undefined
        : { default_generation_settings: { n_ctx: Number(values.c) }, chat_template_caps: { supports_tools: true } }
  },
  async reply ({ body }) {
    const words = `I am process ${process.pid} with the file ${content.slice(-3)} and a window of ${values.c}.`
    const said = JSON.stringify(body.messages)
    const way = ['slow', 'mute'].find((each) => said.includes(each) && !existsSync(`${model}.${each}`))
    if (way !== undefined) writeFileSync(`${model}.${way}`, '')
    if (way === 'mute') await new Promise(() => {})
    return way === 'slow' ? { text: Array(500).fill('more '), partMs: 20 } : { text: words.match(/\S+ ?/g)! }
  }
})
process.on('SIGTERM', () => server.close().then(() => process.exit()))
