import { ClassicLevel } from 'classic-level'
import type { Test } from 'tap'

/** Counts the open LevelDB iterators in this process, from now until the test ends. */
export function countOpenIterators (t: Test) {
  const { iterator: original } = ClassicLevel.prototype
  const open = new Set<object>()
  let made = 0
  ClassicLevel.prototype.iterator = function (this: ClassicLevel, ...args: unknown[]) {
    const iterator = Reflect.apply(original, this, args)
    const { close } = iterator
    open.add(iterator)
    made++
    iterator.close = async () => {
      open.delete(iterator)
      return await close.call(iterator)
    }
    return iterator
  } as typeof original
  t.teardown(() => {
    ClassicLevel.prototype.iterator = original
  })
  return { open: () => open.size, made: () => made }
}
