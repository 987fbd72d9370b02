import t from 'tap'
import { everybodyHears, silentAreDropped } from './task-listeners.ts'
import { race } from './task-races.ts'

t.test('whatever is asked of a task while its runs begin and end, its state is legal and each run has one end', (t) => race(t, 16))

const linux = { skip: process.platform !== 'linux' }

t.test('a hundred listeners hear everything, in order, and the end of the service', linux, async (t) => {
  await everybodyHears(t, { listeners: 100, comments: 20 })
})

t.test('listeners that never read are dropped, and the others hear everything', linux, async (t) => {
  await silentAreDropped(t, { reading: 2, silent: 10 })
})
