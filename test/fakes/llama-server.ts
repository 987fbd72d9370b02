import { closeSync, existsSync, openSync, readFileSync, readSync, writeFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { startFakeOpenAI } from './openai.ts'

// What llama.cpp's server does with one model, as `llama-server -m … --api-key-file …`: it reads the file, says on stderr why it cannot,
// and answers chats with its own process id, to who has the key. Beside the file MODEL, tests find and leave:
// MODEL.pid   its process id, as soon as it runs
// MODEL.hold  it goes on loading while that is there
// MODEL.slow  it has been asked something with the word "slow", and writes many pieces; once only, asked again it answers at once
// MODEL.mute  it has been asked something with the word "mute", and says nothing; once only

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

/** The beginning of the file: some are as large as the memory. */
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
