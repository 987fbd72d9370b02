import { ok, strictEqual } from 'node:assert/strict'
import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { faultsOf } from '../../eval/conduct.ts'
import { ROOT } from '../harness/source-tree.ts'
import { parseEvents, type Sent, textOf } from '../harness/sse.ts'
import { start } from '../ship/start.ts'

/** How long a request may take; a prompt of four thousand tokens takes a minute on a busy machine. Milliseconds. */
const LIMIT_MS = 10 * 60_000

/** Starts the built service with a folder of its own, or with those of one before, and returns what the checks say to it. */
export async function startOnModel (config: object, before?: { home: string, cwd: string }) {
  const home = before?.home ?? mkdtempSync(join(tmpdir(), 'local-agent-models-'))
  const cwd = before?.cwd ?? mkdtempSync(join(tmpdir(), 'local-agent-work-'))
  writeFileSync(join(cwd, 'notes.txt'), 'Call Ada about the boat.\n')
  writeFileSync(join(home, 'config.json'), JSON.stringify(config))
  const { url, stop } = await start([process.execPath, join(ROOT, 'dist/server.js')], { home, cwd })

  async function send (method: string, path: string, body?: object): Promise<any> {
    const response = await fetch(url + path, {
      method,
      headers: { 'content-type': 'application/json' },
      signal: AbortSignal.timeout(LIMIT_MS),
      ...body && { body: JSON.stringify(body) }
    })
    const text = await response.text()
    // A model as small as this may fail to give an object (422), or be too slow for a question of the service (502): a sentence says so.
    ok(response.ok || [422, 502].includes(response.status), `${method} ${path}: ${response.status} ${text}`)
    return response.headers.get('content-type')?.startsWith('text/event-stream') ? parseEvents(text) : JSON.parse(text)
  }

  return {
    url,
    home,
    cwd,
    send,
    /** Says something in a conversation and returns the events of a run that ended as it should. */
    async say (content: string, options?: object): Promise<Sent[]> {
      const at = performance.now()
      const events: Sent[] = await send('POST', '/run', { id: 'chat', message: { role: 'user', content }, cwd, options })
      log(content, events, performance.now() - at)
      checkEnd(events)
      return events
    },
    /** Decides the one call that asks, and returns the run at its end. */
    async decide (events: Sent[], approved: boolean): Promise<any> {
      const asked = events.filter(({ type }) => type === 'tool-approval-request')
      strictEqual(asked.length, 1, 'one call asks')
      const at = performance.now()
      await send('POST', `/approvals/${asked[0].approvalId}`, { approved })
      const { runs: [{ runId }] } = await send('GET', '/runs?limit=1')
      const run = await waitForEnd(runId)
      const ms = Math.round(performance.now() - at)
      console.log(`  ${approved ? 'approved' : 'denied'}: ${ms} ms, ${run.status} ${run.stopped?.reason ?? ''}`)
      return run
    },
    waitForEnd,
    /** Checks all runs, and ends the service. */
    async stop () {
      const { runs } = await send('GET', '/runs?limit=500')
      const details = []
      for (const { runId } of runs) details.push(await send('GET', `/runs/${runId}`))
      strictEqual(faultsOf({ runs: details, answers: [] }).join('\n'), '')
      strictEqual(await stop(), 0)
    }
  }

  async function waitForEnd (runId: string): Promise<any> {
    const until = performance.now() + LIMIT_MS
    for (;;) {
      const run = await send('GET', `/runs/${runId}?waitMs=10000`)
      if (!['queued', 'running'].includes(run.status)) return run
      ok(performance.now() < until, `the run ${runId} does not end`)
    }
  }
}

function log (content: string, events: Sent[], ms: number): void {
  const finish = events.findLast(({ type }) => type === 'finish')
  const { inputTokens, outputTokens } = finish?.usage ?? {}
  const counts = `${inputTokens} tokens read, ${outputTokens} written`
  console.log(`${JSON.stringify(content)}: ${Math.round(ms)} ms, ${counts}, ${finish?.finishReason}`)
  console.log(`  ${JSON.stringify(textOf(events).slice(0, 100))}`)
}

/** A run ends with an answer, a question or a reason. */
function checkEnd (events: Sent[]): void {
  const errors = events.filter(({ type }) => type === 'error')
  strictEqual(errors.length, 0, JSON.stringify(errors))
  const isOver = events.some(({ type }) => type === 'finish')
  const isAsking = events.some(({ type }) => type === 'tool-approval-request' || type === 'data-stopped')
  const says = isAsking || textOf(events).trim() !== ''
  ok(isOver && says, `the run says nothing: ${JSON.stringify(events.slice(-5))}`)
}
