import { parentPort } from 'node:worker_threads'
import type { TransformHandlers, Done, Job } from '../services/tools/transform/transform-rpc.ts'

/**
 * Transforms untrusted content and searches files in a worker, because such work can take long or exhaust the memory. See
 * services/tools/transform/.
 */
const handlers: TransformHandlers = {
  markdown: async (page) => (await import('../services/tools/web/fetch/markdown.ts')).toMarkdown(page),
  text: async (page) => (await import('../services/tools/web/fetch/to-text.ts')).toText(page),
  results: async (html) => (await import('../services/tools/web/search/result-page.ts')).readResultPage(html),
  pdf: async (request) => (await import('../services/tools/transform/pdf-text.ts')).readPdf(request),
  office: async (request) => (await import('../services/tools/transform/office-text.ts')).readOffice(request),
  searchLines: async (request) => (await import('../services/tools/search/search-folder.ts')).findLines(request),
  searchFiles: async (request) => (await import('../services/tools/search/search-folder.ts')).findPaths(request),
  scanFiles: async (request) => (await import('../services/tools/search/search-folder.ts')).scanFiles(request),
  recording: async (request) => (await import('../services/recordings/scrub-lines.ts')).scrubLines(request),
  knock: async (folder) => (await import('../services/workspace/held-folder.ts')).knock(folder),
  takeFolder: async (request) => (await import('../services/workspace/folder-snapshot.ts')).takeFolder(request),
  diffFolder: async (request) => (await import('../services/workspace/folder-snapshot.ts')).diffFolder(request),
  cloneFolder: async (request) => (await import('../services/workspace/clone-folder.ts')).cloneFolder(request),
  compareClone: async (request) => (await import('../services/workspace/clone-folder.ts')).compareClone(request),
  settleClone: async (request) => (await import('../services/workspace/clone-folder.ts')).settleClone(request)
}

parentPort!.on('message', (job: Job) => void transform(job))

async function transform ({ kind, input }: Job) {
  let done: Done
  try {
    done = { output: await handlers[kind](input as never) }
  } catch (error) {
    done = { error: error instanceof Error ? error.message : String(error) }
  }
  parentPort!.postMessage(done)
}
