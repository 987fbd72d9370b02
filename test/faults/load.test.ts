import t from 'tap'
import { crosstalk, fullHouse, readers } from './load.ts'

t.test('runs side by side hear and say nothing of each other', (t) => crosstalk(t, 12))

t.test('so many runs are the most, and the place of one that ends is free at once', (t) => fullHouse(t, 8))

t.test(
  'of the readers of one run those who do not read are dropped, at no cost for the others',
  { skip: process.platform !== 'linux' },
  async (t) => {
    const grown = await readers(t, { reading: 20, silent: 8, pieces: 1000 })
    t.ok(grown < 300, `${grown} MiB`)
  }
)
