import { createRequire } from 'node:module'

/** The native part of LevelDB, which is the lowest layer of the store. */
const binding = createRequire(import.meta.url)('classic-level/binding.js')

/** Makes all writes to the disk fail until the test ends, or until `mend` is called. */
export function breakDisk (t: { teardown(handler: () => unknown): unknown }) {
  const write = binding.batch_do
  const mend = () => {
    binding.batch_do = write
  }
  binding.batch_do = async () => {
    throw Object.assign(new Error('IO error: No space left on device'), { code: 'LEVEL_IO_ERROR' })
  }
  t.teardown(mend)
  return { mend }
}
