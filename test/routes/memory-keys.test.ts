import t from 'tap'
import { brain, call, learning, list } from '../harness/brain.ts'
import { build } from '../harness/helper.ts'

t.test('a key is one in any case, to set it, to learn it and to remove it; the spelling given last is kept', async (t) => {
  const { app, tell } = await learning(t)
  await call(app, 'POST', '/pref', { key: 'editor', value: 'vim' })
  t.same((await call(app, 'POST', '/pref', { key: 'Editor', value: 'Helix' })).body.brain.preferences, { Editor: 'Helix' })
  t.same((await call(app, 'POST', '/pref', { key: ' EDITOR.', value: 'Helix' })).body.brain.preferences, { 'EDITOR.': 'Helix' })
  await tell('My editor is nano.', { kind: 'preference', key: 'editor', value: 'nano' })
  t.same((await brain(app)).preferences, { 'EDITOR.': 'Helix' })
  t.match(await list(app, '?state=proposed'), [{ value: 'nano' }])
  t.match(await call(app, 'DELETE', '/pref', { key: 'eDITOR' }), { status: 200, body: { brain: { preferences: {} } } })
  t.same(await list(app, '?state=proposed'), [])
  t.match(await call(app, 'DELETE', '/pref', { key: 'editor' }), { status: 404 })
})

for (
  const [method, preferences] of [['POST', { EDITOR: 'nano', theme: 'dark' }], ['DELETE', { theme: 'dark' }]] as const
) {
  t.test(`two keys of an earlier version that differ in case are one after a ${method}`, async (t) => {
    const app = await build(t)
    await app.store.record<object>('brain', () => ({})).update(() => ({
      facts: [],
      preferences: { Editor: 'vim', editor: 'Helix', theme: 'dark' },
      updatedAt: 1
    }))
    t.same((await brain(app)).preferences, { Editor: 'vim', editor: 'Helix', theme: 'dark' }, 'as they were')
    const payload = { key: 'EDITOR', ...method === 'POST' && { value: 'nano' } }
    t.same((await call(app, method, '/pref', payload)).body.brain.preferences, preferences)
  })
}
