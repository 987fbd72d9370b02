import t from 'tap'
import { brain, call, learning, list } from '../harness/brain.ts'

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
