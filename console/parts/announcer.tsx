import { createContext, useCallback, useContext, useState, type ReactNode } from 'react'

const Announce = createContext<(text: string) => void>(() => {})

/** A region whose text screen readers announce when it changes. */
export function Announcer ({ children }: { children: ReactNode }) {
  const [said, setSaid] = useState({ text: '', count: 0 })
  const announce = useCallback((text: string) => setSaid(({ count }) => ({ text, count: count + 1 })), [])
  return (
    <Announce.Provider value={announce}>
      {children}
      <div className='visually-hidden' aria-live='polite' role='status'><span key={said.count}>{said.text}</span></div>
    </Announce.Provider>
  )
}

/** Returns the function that announces a sentence to screen readers. Announce results, not progress. */
export const useAnnounce = () => useContext(Announce)
