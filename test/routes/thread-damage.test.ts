import t from 'tap'
import { build } from '../harness/helper.ts'
import { damage } from '../services/store/rewrite.ts'

const messages = [{ role: 'user', content: 'I live in Rome.' }, { role: 'assistant', content: 'Nice.' }]

t.test('a thread that is damaged on the disk holds up no other, says so, and can be removed', async (t) => {
  const before = await build(t)
  for (const id of ['head', 'message', 'face', 'whole', 'second']) {
    await before.inject({ method: 'PUT', url: `/threads/${id}`, payload: { title: id, messages } })
  }
  const digests = Object.fromEntries(['head', 'message', 'face', 'second'].map((id) => [id, before.store.digest(id)]))
  await before.close()
  await damage(before.home, [
    `thread/${digests.head}`,
    `thread/${digests.second}`,
    `message/${digests.message}/0000000000`,
    `face/${digests.face}`
  ])
  const app = await build(t, { home: before.home, cwd: before.cwd })
  const call = async (method: 'GET' | 'POST' | 'PUT' | 'DELETE', url: string, payload?: object) => {
    const response = await app.inject({ method, url, ...(payload && { payload }) })
    return { status: response.statusCode, body: response.json() }
  }
  const said = (id: string) => ({
    status: 500,
    body: { code: 'ERR_RECORD_DAMAGED', error: new RegExp(`thread "${id}" is damaged.*DELETE /threads/:id removes it`) }
  })
  const listed = async () => (await call('GET', '/threads')).body.threads.map(({ id }: { id: string }) => id).toSorted()

  t.same(await listed(), ['face', 'message', 'whole'])
  for (const [method, url, payload] of [['GET', ''], ['PUT', '', { title: 'x' }], ['POST', '/extract']] as const) {
    t.match(await call(method, `/threads/head${url}`, payload), said('head'), method)
  }
  t.match(await call('POST', '/run/sync', { id: 'head', message: { role: 'user', content: 'hi' } }), said('head'))
  t.match(await call('GET', '/threads/message'), said('message'))
  t.match(await call('GET', '/threads/face'), { status: 200, body: { title: 'I live in Rome.', messageCount: 2 } }, 'its title is lost')
  t.match(await call('PUT', '/threads/face', { title: 'again' }), { body: { title: 'again' } })
  const rested: string[] = []
  for await (const { id } of app.threadRepository.unreadThreads(new AbortController().signal)) rested.push(id)
  t.same(rested.toSorted(), ['face', 'message', 'whole'])
  t.equal(await app.threads.prune(Number.MAX_SAFE_INTEGER), 0)

  t.match(await call('DELETE', '/threads/head'), { status: 200 })
  t.match(await call('GET', '/threads/head'), { status: 404 })
  t.match(await call('PUT', '/threads/head', { messages }), { status: 200, body: { messageCount: 2 } })
  t.same(await listed(), ['face', 'head', 'message', 'whole'], 'once')
  t.match(await call('DELETE', '/threads'), { body: { deleted: 5 } })
  for await (const key of app.store.keys('')) {
    if (!key.startsWith('!')) t.notMatch(key, /^(?:thread|message|turn|recent|unread|read|found|face)\//)
  }
})
