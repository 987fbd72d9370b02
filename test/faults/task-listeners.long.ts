import t from 'tap'
import { everybodyHears, silentAreDropped } from './task-listeners.ts'

const linux = { skip: process.platform !== 'linux' }

t.test('a thousand listeners hear everything, in order, and the end of the service', linux, async (t) => {
  const grown = await everybodyHears(t, { listeners: 1_000, comments: 100 })
  // Garbage of the collector counts: 85 to 190 MiB were seen. Listeners that kept their events would take a gigabyte.
  t.ok(grown < 280, `${grown.toFixed(0)} MiB more`)
})

t.test('two hundred listeners that never read are dropped, and the others hear everything', linux, async (t) => {
  const grown = await silentAreDropped(t, { reading: 5, silent: 200 })
  t.ok(grown < 400, `${grown.toFixed(0)} MiB more`)
})
