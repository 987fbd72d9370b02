import { parentPort } from 'node:worker_threads'
import type { TransformHandlers, Done, Job } from '../services/tools/transform/transform-rpc.ts'

/** Work on what strangers send, which may take long or all memory there is: see services/tools/transform/transform.ts. */
const doers: TransformHandlers = {
  markdown: async (page) => (await import('../services/tools/web/fetch/markdown.ts')).toMarkdown(page),
  text: async (page) => (await import('../services/tools/web/fetch/to-text.ts')).toText(page),
  results: async (html) => (await import('../services/tools/web/search/result-page.ts')).readResultPage(html)
}

parentPort!.on('message', (job: Job) => void transform(job))

async function transform ({ kind, input }: Job) {
  let done: Done
  try {
    done = { output: await doers[kind](input as never) }
  } catch (error) {
    done = { error: error instanceof Error ? error.message : String(error) }
  }
  parentPort!.postMessage(done)
}
