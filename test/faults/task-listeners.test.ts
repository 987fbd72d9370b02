import t from 'tap'
import { everybodyHears, silentAreDropped } from './task-listeners.ts'

const linux = { skip: process.platform !== 'linux' }

t.test('a hundred listeners hear everything, in order, and the end of the service', linux, async (t) => {
  await everybodyHears(t, { listeners: 100, comments: 20 })
})

t.test('listeners that never read are dropped, and the others hear everything', linux, async (t) => {
  await silentAreDropped(t, { reading: 2, silent: 10 })
})
