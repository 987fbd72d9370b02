import { chatsJob } from './chats-job.ts'
import { fileJob } from './file-job.ts'
import { goalsJob } from './goals-job.ts'
import { mainJob } from './main-job.ts'
import { CACHE, install, isInstalled, missingPrograms } from './engine.ts'
import { NOT_IN_NODE } from '../fakes/template-server.ts'
import { prefixJob } from './prefix-job.ts'
import { callInDialects, renderTemplates } from './templates.ts'

// The built service on a real model server with a small, weak model: what it says is not judged, only that every run ends well, that the
// model is shown its tools, and that what it calls happens once it is approved.
// npm run test:models -- --if-cached    nothing is installed, and only the beginning of the main job is done: for CI
// npm run test:models -- --only job     one part: job, file, chats, goals, prefix, dialects or templates

const PARTS = {
  job: () => mainJob(),
  file: () => fileJob(),
  chats: () => chatsJob(),
  goals: () => goalsJob(),
  prefix: () => prefixJob(),
  dialects: () => callInDialects(NOT_IN_NODE),
  templates: () => renderTemplates(NOT_IN_NODE)
}

async function main (args: readonly string[]): Promise<void> {
  const isSample = args.includes('--if-cached')
  if (!isInstalled()) {
    if (isSample) return console.log(`No model server in ${CACHE}: skipped. "npm run test:models" installs one.`)
    const missing = missingPrograms()
    if (missing.length > 0) {
      throw new Error(`The model server cannot be built: install ${missing.join(', ')}, or set LOCAL_AGENT_MODELS to a folder that has it.`)
    }
    console.log(`Downloading 130 MB and building llama-server in ${CACHE}: ten to forty minutes on two cores, and only once.`)
    install()
  }
  const only = args[args.indexOf('--only') + 1]
  const began = performance.now()
  if (isSample) await mainJob({ isSample })
  else for (const [name, run] of Object.entries(PARTS)) if (!args.includes('--only') || name === only) await run()
  console.log(`All went well, in ${Math.round((performance.now() - began) / 1_000)} s.`)
}

await main(process.argv.slice(2)).catch((error: Error) => {
  console.error(error.name === 'AssertionError' ? error : error.message)
  process.exitCode = 1
})
// A service or a server that a failed check left behind ends with this process.
process.exit()
