import { useEffect, useState } from 'react'
import { Check, Copy } from 'lucide-react'
import { say } from '../lib/say.ts'
import { useAnnounce } from './announcer.tsx'
import { IconButton } from './icon-button.tsx'

/** How long the button shows that the text was copied, in milliseconds. */
const SAID_MS = 2_000

/** Copies a text to the clipboard. */
export function CopyButton ({ text, label = say('app.copy') }: { text: string, label?: string }) {
  const [isCopied, setIsCopied] = useState(false)
  const announce = useAnnounce()
  useEffect(() => {
    if (!isCopied) return
    const timer = setTimeout(() => setIsCopied(false), SAID_MS)
    return () => clearTimeout(timer)
  }, [isCopied])
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(text)
      setIsCopied(true)
      announce(say('app.copied'))
    } catch {
      announce(say('app.notCopied'))
    }
  }
  return <IconButton icon={isCopied ? Check : Copy} label={isCopied ? say('app.copied') : label} onClick={() => void copy()} />
}
