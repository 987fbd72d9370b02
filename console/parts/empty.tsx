import type { ReactNode } from 'react'

/** The content of an empty list: one sentence, and what the user can do. */
export function Empty ({ text, children }: { text: string, children?: ReactNode }) {
  return <div className='empty'><p>{text}</p>{children}</div>
}
