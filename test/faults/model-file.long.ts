import { existsSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { noEngine, writeEngine, writeModel } from '../harness/model-files.ts'
import { installedWeights } from '../models/engine.ts'
import { enginesOf, killServiceAt, startOnFile, untilEngine, type Weights } from './model-file.ts'

/** Moments of an answer at which something is killed. */
const MOMENTS = 8

/** Of a server that was killed while it loaded: nobody knows that it was no lack of memory, and the run ends. */
const LOADING = /was killed when it loaded the file/

/** Kills the server at moments from the question to the end of the answer: each run ends with an answer, or says that it was loading. */
async function killEngine (t: Test, weights: Weights): Promise<void> {
  const { ask, service } = await startOnFile(t, weights)
  await ask('hi')
  let began = performance.now()
  await ask('Tell me a slow story about boats.')
  const ms = performance.now() - began
  for (let n = 0; n <= MOMENTS; n++) {
    rmSync(`${weights.file}.slow`, { force: true })
    const asked = ask(`Tell me a slow story about boats, part ${n}.`)
    await new Promise((resolve) => setTimeout(resolve, ms * n / MOMENTS))
    for (const pid of enginesOf(weights)) process.kill(pid, 'SIGKILL')
    began = performance.now()
    const answer = await asked
    const isWhole = answer?.error === undefined ? answer?.isFinished : LOADING.test(answer.error)
    t.ok(isWhole, `killed at ${n} of ${MOMENTS}: ${answer?.error ?? answer?.text}`)
    t.comment(`${answer?.retries} retries, ${Math.round(performance.now() - began)} ms after the kill`)
  }
  t.ok((await ask('hi'))?.isFinished)
  t.same(await service().stop(), { code: 0, signal: null })
  t.equal(enginesOf(weights).length, 0)
}

/** Kills the service at moments of a first answer, from the start of its model's server on. */
async function killService (t: Test, weights: Weights): Promise<void> {
  for (let n = 0; n <= MOMENTS; n++) {
    await t.test(`${n} of ${MOMENTS}`, (t) =>
      killServiceAt(t, weights, 'Tell me about boats.', async (_, asked) => {
        await untilEngine(weights)
        const isOver = asked.then(() => true)
        await Promise.race([isOver, new Promise((resolve) => setTimeout(resolve, n * 400))])
      }))
  }
}

t.test('a program that stands for llama.cpp', { skip: noEngine }, async (t) => {
  const dir = t.testdir({})
  const weights = { engine: writeEngine(join(dir, 'llama-server')), file: writeModel(join(dir, 'small.gguf'), 'sss') }
  await t.test('its server is killed', (t) => killEngine(t, weights))
  await t.test('one that dies in every answer ends the run with a sentence', async (t) => {
    const { ask, service } = await startOnFile(t, weights)
    await ask('hi')
    const asked = ask('mute')
    const over = new AbortController()
    void asked.finally(() => over.abort())
    while (!over.signal.aborted) {
      if (existsSync(`${weights.file}.mute`)) {
        for (const pid of enginesOf(weights)) process.kill(pid, 'SIGKILL')
        rmSync(`${weights.file}.mute`)
      }
      await new Promise((resolve) => setTimeout(resolve, 20))
    }
    t.match((await asked)?.error, /broke off the connection|cannot be reached/)
    t.ok((await ask('hi'))?.isFinished)
    t.same(await service().stop(), { code: 0, signal: null })
  })
  await t.test('one that is exchanged while it answers ends after that', async (t) => {
    const { ask, service } = await startOnFile(t, weights)
    // Kills before may have left it.
    rmSync(`${weights.file}.slow`, { force: true })
    const asked = ask('slow')
    while (!existsSync(`${weights.file}.slow`)) await untilEngine(weights)
    writeModel(weights.file, 'ttt')
    t.match((await ask('hi'))?.text, 'the file ttt')
    t.match((await asked)?.text, /^more more/)
    writeFileSync(weights.file, '')
    t.match((await ask('hi'))?.error, /the file is empty/)
    rmSync(weights.file)
    t.match((await ask('hi'))?.error, /is not there/)
    t.same(await service().stop(), { code: 0, signal: null })
  })
})

const real = installedWeights()
t.test('llama.cpp itself', { skip: real === undefined && 'npm run test:models installs it' }, async (t) => {
  await t.test('its server is killed', (t) => killEngine(t, real!))
  await t.test('the service is killed', (t) => killService(t, real!))
})
