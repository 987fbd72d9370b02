import t from 'tap'
import * as sdk from '../../../client/index.ts'
import { build } from '../../harness/helper.ts'
import { clientOf, ID, is } from './client.ts'

t.test('threads', async (t) => {
  const options = await clientOf(await build(t))
  const summary = {
    id: 'chat',
    title: 'Chat',
    createdAt: Number,
    updatedAt: Number,
    status: 'idle' as const,
    messageCount: 2,
    lastMessage: 'hello'
  }
  const messages = [{ role: 'user', content: 'hi' }, { role: 'assistant', content: 'hello', mine: 1 }]
  is(t, (await sdk.createThread({ ...options, body: { id: 'chat', title: 'Chat', messages, pinned: true } })).data, summary, 'createThread')
  is(
    t,
    (await sdk.getThread({ ...options, path: { id: 'chat' }, query: { limit: 1 } })).data,
    { ...summary, messages: messages.slice(1), nextCursor: '1', pinned: true } as never,
    'getThread'
  )
  is(
    t,
    (await sdk.putThread({ ...options, path: { id: 'chat' }, body: { title: 'Other' } })).data,
    { ...summary, title: 'Other' },
    'putThread'
  )
  is(
    t,
    (await sdk.createThread({ ...options, body: {} })).data,
    { ...summary, id: ID, title: '', messageCount: 0, lastMessage: '' },
    'createThread, of nothing'
  )
  is(t, (await sdk.listThreads({ ...options, query: { limit: 1 } })).data, {
    threads: [{ ...summary, id: ID, title: '', messageCount: 0, lastMessage: '' }],
    nextCursor: /./
  }, 'listThreads')
  is(t, (await sdk.extractFacts({ ...options, path: { id: 'chat' } })).data, { facts: [], preferences: {}, added: 0 }, 'extractFacts')
  is(t, (await sdk.deleteThread({ ...options, path: { id: 'chat' } })).data, { ok: true, threadId: 'chat' }, 'deleteThread')
  is(t, (await sdk.deleteThreads(options)).data, { deleted: 1 }, 'deleteThreads')
})

t.test('the brain', async (t) => {
  const options = await clientOf(await build(t))
  const brain = { facts: ['Likes tea'], preferences: {}, patterns: [], updatedAt: Number }
  const taught = { ...brain, preferences: { editor: 'vim' } }
  is(t, (await sdk.learnFact({ ...options, body: { fact: 'Likes tea' } })).data, { status: 'learned', brain }, 'learnFact')
  is(
    t,
    (await sdk.setPreference({ ...options, body: { key: 'editor', value: 'vim' } })).data,
    { status: 'set', brain: taught },
    'setPreference'
  )
  is(t, (await sdk.getBrain(options)).data, {
    brain: taught,
    contextPreview: '## Known facts\n- Likes tea\n\n## Preferences\n- editor: vim'
  }, 'getBrain')
  is(t, (await sdk.listFacts(options)).data, {
    facts: [{ id: ID, fact: 'Likes tea', source: undefined, createdAt: Number, supersedes: undefined }],
    nextCursor: undefined
  }, 'listFacts')
  is(
    t,
    (await sdk.forgetFact({ ...options, body: { fact: 'Likes tea' } })).data,
    { status: 'removed', brain: { ...taught, facts: [] } },
    'forgetFact'
  )
  is(t, (await sdk.clearBrain(options)).data, { status: 'cleared' }, 'clearBrain')
})

t.test('everything as one file, and back', async (t) => {
  const options = await clientOf(await build(t))
  const headers = { 'x-export-passphrase': 'correct horse' }
  const { data: backup } = await sdk.exportAll({ ...options, headers, parseAs: 'blob' })
  t.ok((backup as Blob).size > 100)
  is(t, (await sdk.importAll({ ...options, headers, body: backup as Blob })).data, {
    status: 'imported',
    records: Number,
    createdAt: Number
  }, 'importAll')
})
