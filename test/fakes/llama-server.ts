import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { startFakeOpenAI } from './openai.ts'

// What llama.cpp's server does with one model, as `llama-server -m … --api-key-file …`: it reads the file, says on stderr why it cannot,
// and answers chats with its own process id, to who has the key. The first message "slow" is answered in many pieces.

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
const file = readFileSync(values.m as string)
if (file.includes('CUT OFF')) {
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
    '/health': () => ({ status: 'ok' }),
    '/props': () => ({ default_generation_settings: { n_ctx: Number(values.c) }, chat_template_caps: { supports_tools: true } })
  },
  reply ({ body }) {
    const words = `I am process ${process.pid} with the file ${file.toString('latin1').slice(-3)} and a window of ${values.c}.`
    const isSlow = JSON.stringify(body.messages).includes('slow') && !existsSync(`${values.m}.slow`)
    if (!isSlow) return { text: words }
    writeFileSync(`${values.m}.slow`, '')
    return { text: Array(500).fill('more '), partMs: 20 }
  }
})
process.on('SIGTERM', () => server.close().then(() => process.exit()))
