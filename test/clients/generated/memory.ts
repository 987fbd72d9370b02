import t from 'tap'
import * as sdk from '../../../client/index.ts'
import { build } from '../../harness/helper.ts'
import { clientOf, ID, is, NO_OPTIONS } from './client.ts'

t.test('threads', async (t) => {
  const options = await clientOf(await build(t))
  const summary = {
    id: 'chat',
    title: 'Chat',
    createdAt: Number,
    updatedAt: Number,
    status: 'idle' as const,
    messageCount: 2,
    lastMessage: 'hello',
    deletedAt: undefined,
    settings: undefined
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
  is(t, (await sdk.searchThreads({ ...options, query: { q: 'hello' } })).data, {
    results: [{
      threadId: 'chat',
      title: 'Other',
      messageId: /./,
      position: 1,
      role: 'assistant',
      time: Number,
      snippet: { text: 'hello', matches: [{ start: 0, end: 5 }] }
    }],
    nextCursor: undefined
  } as never, 'searchThreads')
  is(t, (await sdk.extractFacts({ ...options, path: { id: 'chat' } })).data, {
    facts: [],
    preferences: {},
    added: 0,
    proposed: 0,
    rejected: undefined
  }, 'extractFacts')
  for (const content of ['hey', 'hello']) {
    await sdk.runSync({ ...options, body: { id: 'said', messages: [{ role: 'user', content, id: 'u' }] } })
  }
  const said = { id: 'said' }
  const { data: list } = await sdk.listVersions({ ...options, path: said })
  const version = { id: ID, messageId: 'u', replacedAt: Number, text: 'hey', messageCount: 2, isCut: undefined }
  is(t, list, { versions: [version] }, 'listVersions')
  const path = { ...said, versionId: list.versions[0].id }
  const { data: whole } = await sdk.getVersion({ ...options, path })
  t.match(whole, { id: ID, text: 'hey', messages: [{ content: 'hey' }, { role: 'assistant' }] }, 'getVersion')
  t.match((await sdk.restoreVersion({ ...options, path })).data, { id: 'said', messageCount: 2 }, 'restoreVersion')
  await sdk.deleteThread({ ...options, path: said })
  is(t, (await sdk.deleteThread({ ...options, path: { id: 'chat' } })).data, { ok: true, threadId: 'chat' }, 'deleteThread')
  is(t, (await sdk.deleteThreads(options)).data, { deleted: 1 }, 'deleteThreads')
})

t.test('agents', async (t) => {
  const options = await clientOf(await build(t))
  const body = { description: 'Sells', options: { instructions: 'Be brief.', allowTools: ['readFile'] } }
  const { agent: _, ...noOptions } = NO_OPTIONS
  const agent = { name: 'shop', ...body, options: { ...noOptions, ...body.options }, createdAt: Number, updatedAt: Number }
  const path = { name: 'shop' }
  is(t, (await sdk.putAgent({ ...options, path, body })).data, agent, 'putAgent')
  is(t, (await sdk.getAgent({ ...options, path })).data, agent, 'getAgent')
  is(t, (await sdk.listAgents(options)).data, { agents: [agent] }, 'listAgents')
  const settings = { agent: 'shop', options: { effort: 'high' as const } }
  const thread = { ...options, path: { id: 'desk' } }
  await sdk.putThread({ ...thread, body: { settings } })
  t.match((await sdk.getThread(thread)).data?.settings, settings)
  await t.rejects(sdk.deleteAgent({ ...options, path }), { code: 'ERR_AGENT_IN_USE', details: [{ path: '/threads/desk' }] })
  await sdk.deleteThread(thread)
  is(t, (await sdk.deleteAgent({ ...options, path })).data, { ok: true, name: 'shop' }, 'deleteAgent')
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
  const tea = {
    id: ID,
    fact: 'Likes tea',
    kind: 'fact' as const,
    state: 'known' as const,
    createdAt: Number,
    pinned: undefined,
    important: undefined,
    key: undefined,
    value: undefined,
    source: undefined,
    supersedes: undefined,
    replaces: undefined,
    replacedBy: undefined,
    retracts: undefined,
    confidence: undefined,
    evidence: undefined,
    forgottenAt: undefined,
    asked: undefined,
    on: undefined
  }
  const { data: list } = await sdk.listFacts({ ...options, query: { q: 'TEA', state: 'known', kind: 'fact' } })
  is(t, list, { facts: [tea], nextCursor: undefined }, 'listFacts')
  const path = { id: list!.facts[0].id }
  is(
    t,
    (await sdk.changeFact({ ...options, path, body: { pinned: true } })).data,
    { status: 'changed', fact: { ...tea, pinned: true }, brain: taught },
    'changeFact'
  )
  is(
    t,
    (await sdk.deletePreference({ ...options, body: { key: 'editor' } })).data,
    { status: 'removed', brain },
    'deletePreference'
  )
  is(
    t,
    (await sdk.forgetFact({ ...options, body: { fact: 'Likes tea' } })).data,
    { status: 'removed', brain: { ...brain, facts: [] } },
    'forgetFact'
  )
  const { data: rum } = await sdk.learnFact({ ...options, body: { fact: 'Likes rum' } })
  t.same(rum!.brain.facts, ['Likes rum'])
  const { id } = (await sdk.listFacts(options)).data!.facts[0]
  is(t, (await sdk.deleteFact({ ...options, path: { id } })).data, { status: 'removed', brain: { ...brain, facts: [] } }, 'deleteFact')
  is(t, (await sdk.clearBrain(options)).data, { status: 'cleared' }, 'clearBrain')
})

t.test('a file for a message, and back', async (t) => {
  const options = await clientOf(await build(t))
  const sent = await sdk.addAttachment({ ...options, headers: { 'x-filename': 'list.txt' }, body: new Blob(['tea']) })
  is(t, sent.data, { url: /^attachment:/, digest: /^[0-9a-f]{32}$/, mediaType: 'text/plain', bytes: 3, name: 'list.txt' }, 'addAttachment')
  const { digest } = sent.data!
  const { data } = await sdk.getAttachment({ ...options, path: { digest }, parseAs: 'text' })
  t.same(data, 'tea')
})

t.test('everything as one file, and back', async (t) => {
  const options = await clientOf(await build(t))
  const headers = { 'x-export-passphrase': 'correct horse' }
  const { data: backup } = await sdk.exportAll({ ...options, headers, parseAs: 'blob' })
  t.ok((backup as Blob).size > 100)
  const counts = { facts: Number, threads: Number, messages: Number, tasks: Number, runs: Number, attachments: Number, agents: Number }
  is(t, (await sdk.checkImport({ ...options, headers, body: backup as Blob })).data, {
    status: 'checked',
    createdAt: Number,
    version: /./,
    records: Number,
    bytes: (backup as Blob).size,
    holds: counts,
    replaces: counts,
    settings: undefined,
    kept: undefined,
    busy: undefined,
    missingBytes: undefined
  }, 'checkImport')
  is(t, (await sdk.importProgress(options)).data, { step: 'none', bytes: 0, total: undefined }, 'importProgress')
  is(t, (await sdk.importAll({ ...options, headers, body: backup as Blob })).data, {
    status: 'imported',
    records: Number,
    createdAt: Number,
    kept: undefined
  }, 'importAll')
})

t.test('everything for people to read, and everything gone', async (t) => {
  const options = await clientOf(await build(t))
  await sdk.learnFact({ ...options, body: { fact: 'Likes rum' } })
  const { data } = await sdk.exportAll({ ...options, query: { format: 'json' }, parseAs: 'json' })
  t.match(data, { memory: { brain: { facts: ['Likes rum'] } }, threads: [], tasks: [], decisions: [], grants: [] })
  is(t, (await sdk.eraseAll({ ...options, body: { confirm: 'erase everything' } })).data, {
    status: 'erased',
    stays: ['config.json']
  }, 'eraseAll')
})
