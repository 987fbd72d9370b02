import type { ReactNode } from 'react'

/** What a list shows when it is empty: one sentence, and what to do. */
export function Empty ({ text, children }: { text: string, children?: ReactNode }) {
  return <div className='empty'><p>{text}</p>{children}</div>
}
