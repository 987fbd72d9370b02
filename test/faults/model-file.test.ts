import { existsSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { noEngine, writeEngine, writeModel } from '../harness/model-files.ts'
import { killServiceAt, untilEngine } from './model-file.ts'

t.test('the server of a model file dies with a service that is killed', { skip: noEngine }, async (t) => {
  const dir = t.testdir({})
  const weights = { engine: writeEngine(join(dir, 'llama-server')), file: writeModel(join(dir, 'small.gguf'), 'sss') }
  const hold = `${weights.file}.hold`
  await t.test('while it loads', async (t) => {
    writeFileSync(hold, '')
    await killServiceAt(t, weights, 'hi', async () => {
      await untilEngine(weights)
      rmSync(hold)
    })
  })
  await t.test('within an answer', (t) =>
    killServiceAt(t, weights, 'slow', async () => {
      while (!existsSync(`${weights.file}.slow`)) await untilEngine(weights)
    }))
})
