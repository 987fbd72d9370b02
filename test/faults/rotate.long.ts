import t from 'tap'
import { killEverywhere } from './rotate.ts'

t.test('from a key file to another, killed at every step', async (t) => {
  await killEverywhere(t, {}, () => true)
})
t.test('from a key file to a passphrase, killed at every step', async (t) => {
  await killEverywhere(t, { to: 'new' }, () => true)
})
t.test('from a passphrase to a key file, killed at every step', async (t) => {
  await killEverywhere(t, { from: 'old' }, () => true)
})
