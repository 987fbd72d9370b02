import t from 'tap'
import * as sdk from '../../../client/index.ts'
import { paired } from '../../app/calls/parts.ts'
import { calls, READ, withTurns } from '../../harness/app-tools.ts'
import { build } from '../../harness/helper.ts'
import { clientOf, ID, is, said } from './client.ts'

const SCOPES = (['once', 'exact', 'folder'] as const).map((scope) => ({ scope, text: /./ }))
const APP = { appTools: [{ ...READ, effect: 'read' as const }] }

t.test('approval requests, a page at a time', async (t) => {
  const options = await clientOf(await build(t))
  for (const id of ['a', 'b']) await sdk.runSync({ ...options, body: { ...said(`write "x" to ${id}.txt`), id } })
  const { data } = await sdk.listApprovals({ ...options, query: { limit: 1 } })
  is(t, data, {
    approvals: [{
      approvalId: ID,
      kind: 'tool',
      runId: ID,
      threadId: 'a',
      taskId: undefined,
      toolCallId: /./,
      toolName: 'writeFile',
      input: { path: 'a.txt', content: 'x' },
      digest: /^[0-9a-f]{64}$/,
      cwd: /work$/,
      correctedInput: undefined,
      correctedDigest: undefined,
      unboundOffered: undefined,
      unbound: undefined,
      note: undefined,
      reasons: [{ policy: 'toolPermission', text: /./ }],
      boundary: undefined,
      toolServer: undefined,
      scopes: SCOPES,
      teaches: undefined,
      output: undefined,
      questions: undefined,
      budget: undefined,
      live: undefined,
      server: undefined,
      url: undefined,
      serverTools: undefined,
      variables: undefined,
      because: undefined,
      granted: undefined,
      device: undefined,
      decidedAt: undefined,
      about: undefined,
      text: undefined,
      choices: undefined,
      choice: undefined,
      reason: undefined,
      createdAt: Number,
      expiresAt: Number,
      state: 'pending'
    }],
    nextCursor: ID
  }, 'listApprovals')
  t.match((await sdk.listApprovals({ ...options, query: { cursor: data.nextCursor } })).data, {
    approvals: [{ threadId: 'b' }],
    nextCursor: undefined
  })
  const [{ approvalId, runId }] = data.approvals
  is(t, (await sdk.previewApproval({ ...options, path: { id: approvalId } })).data, {
    changes: [{
      ...{ path: /./, kind: 'created', from: undefined, what: 'file', mode: undefined, link: undefined, inner: undefined },
      ...{ withContents: undefined, replaces: undefined, diff: /^--- / }
    }],
    note: undefined,
    ran: undefined,
    refused: undefined,
    previewDigest: /./
  }, 'previewApproval')
  t.match((await sdk.previewCorrection({ ...options, path: { id: approvalId }, body: {} })).data, { changes: [{ path: /./ }] })
  const decision = await sdk.decideApproval({ ...options, path: { id: approvalId }, body: { approved: false, reason: 'no' } })
  is(t, decision.data, {
    ...{ approvalId, state: 'denied' as const, runId, threadId: 'a', taskId: undefined, continued: true },
    released: undefined,
    learned: undefined
  }, 'decideApproval')
})

t.test('calls that the application executes', async (t) => {
  const { app } = await withTurns(t, [calls('openDocument', 'openDocument')])
  const options = await clientOf(app)
  const { data: run } = await sdk.runSync({ ...options, body: { ...said('open both'), options: { ...APP, app: 'editor' } } })
  const [first, second] = run.pendingToolCalls
  const known = {
    toolCallId: ID,
    toolName: 'openDocument',
    input: { name: 'Budget' },
    app: 'editor',
    runId: run.runId,
    threadId: run.threadId,
    taskId: undefined,
    createdAt: Number,
    expiresAt: Number
  }
  const { data } = await sdk.listToolCalls({ ...options, query: { state: 'open', app: 'editor', limit: 1 } })
  is(t, data, { toolCalls: [{ ...known, state: 'open', claim: undefined }], nextCursor: first.toolCallId }, 'listToolCalls')
  const claimed = await sdk.answerToolCall({ ...options, path: { id: second.toolCallId }, body: { claim: 'window-1' } })
  const claim = { instance: 'window-1', until: Number }
  is(t, claimed.data!, { ...known, state: 'claimed', claim, continued: false }, 'answerToolCall')
})

t.test('grants: given, listed and ended', async (t) => {
  const options = await clientOf(await build(t))
  await sdk.putThread({ ...options, path: { id: 'a' }, body: {} })
  const body = { threadId: 'a', toolName: 'writeFile', input: { path: 'a.txt', content: 'x' }, scope: 'folder' as const }
  const { data: grant } = await sdk.addGrant({ ...options, body })
  const known = {
    grantId: ID,
    threadId: 'a',
    taskId: undefined,
    toolName: 'writeFile',
    scope: 'folder' as const,
    text: /txt files/,
    input: body.input,
    cwd: /work$/,
    folder: /work$/,
    source: 'request' as const,
    approvalId: undefined,
    until: undefined,
    uses: 0,
    createdAt: Number,
    lastUsedAt: undefined,
    endedAt: undefined,
    suspended: undefined,
    sheet: undefined
  }
  if (!('grantId' in grant)) throw new Error('it is a list')
  is(t, grant, known, 'addGrant')
  is(t, (await sdk.listGrants({ ...options, query: { threadId: 'a' } })).data, { grants: [known], nextCursor: undefined }, 'listGrants')
  is(t, (await sdk.removeGrant({ ...options, path: { id: grant.grantId } })).data, { ok: true, grantId: grant.grantId }, 'removeGrant')
})

t.test('devices: listed and removed', async (t) => {
  const app = await build(t)
  const options = await clientOf(app)
  const { deviceId, name } = await paired(app)
  const device = { deviceId, name, createdAt: Number, lastUsedAt: Number, lapsesAt: Number }
  const listed = { devices: [device], url: undefined, address: undefined, problem: undefined }
  is(t, (await sdk.listDevices(options)).data, listed, 'listDevices')
  is(t, (await sdk.removeDevice({ ...options, path: { id: deviceId } })).data, { ok: true, deviceId }, 'removeDevice')
})
