import { readdirSync } from 'node:fs'
import t from 'tap'
import { makePipes } from '../../../services/process/pipes.ts'

const linux = process.platform !== 'linux' && 'Node gives children sockets there'

t.test('without mkfifo a child gets sockets, and nothing is left behind', { skip: linux }, async (t) => {
  const folder = t.testdir({})
  const { TMPDIR } = process.env
  process.env.TMPDIR = folder
  t.teardown(() => {
    if (TMPDIR === undefined) delete process.env.TMPDIR
    else process.env.TMPDIR = TMPDIR
  })
  t.equal(await makePipes(2, { PATH: '/no/such/folder' }), undefined)
  t.same(readdirSync(folder), [])
})

t.test('elsewhere than on Linux a child gets sockets', async (t) => {
  const original = Object.getOwnPropertyDescriptor(process, 'platform')!
  Object.defineProperty(process, 'platform', { value: 'darwin', configurable: true })
  t.teardown(() => Object.defineProperty(process, 'platform', original))
  t.equal(await makePipes(1, process.env), undefined)
})
