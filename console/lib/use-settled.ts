import { useEffect, useState } from 'react'

/** Returns the value once it has stayed the same for some time, milliseconds. */
export function useSettled<T> (value: T, ms: number): T {
  const [settled, setSettled] = useState(value)
  useEffect(() => {
    const timer = setTimeout(() => setSettled(value), ms)
    return () => clearTimeout(timer)
  }, [value, ms])
  return settled
}
