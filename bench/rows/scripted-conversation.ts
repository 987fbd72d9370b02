import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { ROOT } from '../../scripts/bundle.ts'
import { absoluteRow } from '../compare.ts'
import { median } from '../stats.ts'
import type { Context } from './context.ts'

/** Measures the scripted conversation of examples/ci/conversation.sh, from its start in an empty folder to the end of the service. */
export async function scriptedConversation ({ times }: Context) {
  const all: number[] = []
  for (let n = 0; n < times(9); n++) {
    const began = performance.now()
    await promisify(execFile)(`${ROOT}examples/ci/conversation.sh`, [process.execPath, `${ROOT}dist/server.js`], {
      env: { PATH: process.env.PATH }
    })
    all.push(performance.now() - began)
  }
  return [absoluteRow({ what: 'a scripted conversation in CI', unit: 'ms', bar: 2_000 }, median(all))]
}
