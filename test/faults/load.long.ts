import t from 'tap'
import { crosstalk, fullHouse, readers } from './load.ts'

t.test('a hundred runs side by side hear and say nothing of each other', (t) => crosstalk(t, 100))

t.test('128 runs are the most, and the place of one that ends is free at once', (t) => fullHouse(t, 128))

// Those who do not read may have a MiB each waiting for them.
t.test('a thousand readers of one run, of whom two hundred never read', async (t) => {
  const grown = await readers(t, { reading: 800, silent: 200, pieces: 1000 })
  t.ok(grown < 500, `${grown} MiB`)
})
