import t from 'tap'
import { byFolder, floorsFor, folderOf, shortfalls, type Counts } from '../../scripts/coverage/folders.ts'
import isMeasured from '../../scripts/coverage/map.ts'

const counts = (covered: number, total: number): Counts => ({ lines: { total, covered }, branches: { total: 10, covered: 8 } })
const folders = byFolder(new Map<string, Counts>([
  ['services/agent/loop.ts', counts(90, 100)],
  ['services/agent/deep/part.ts', counts(0, 20)],
  ['services/agent/whole.ts', counts(80, 80)],
  ['routes/agent.ts', counts(9, 9)],
  ['workers/task.ts', counts(0, 9)],
  ['app.ts', counts(0, 9)]
]))

t.test('a file counts for its service or its folder', async (t) => {
  t.equal(folderOf('services/store/recovery/repair.ts'), 'services/store')
  t.equal(folderOf('plugins/core/errors.ts'), 'plugins')
  t.same([...folders.keys()], ['routes', 'services/agent'])
  t.same(folders.get('services/agent')!.figures, { lines: 85, branches: 80 })
})

t.test('a figure below its floor gives a sentence with folder, figure, floor and the files to test', async (t) => {
  const floors = { routes: { lines: 100, branches: 80 }, 'services/agent': { lines: 86, branches: 80 } }
  t.same(shortfalls(folders, floors), [
    'services/agent: the tests cover 85 % of its lines, less than its floor of 86 %. ' +
    'Most lines are uncovered in services/agent/deep/part.ts, services/agent/loop.ts.'
  ])
  t.match(shortfalls(folders, { routes: floors.routes }), [/^services\/agent has no floor/])
  t.same(shortfalls(folders, floorsFor(folders, 2)), [])
  t.same(floorsFor(folders, 2).routes, { lines: 98, branches: 78 })
})

t.test('tests of the built service are not measured', async (t) => {
  t.equal(isMeasured('test/faults/stop.test.ts'), null)
  t.same(isMeasured('test/routes/run.test.ts'), [])
})
