import { Bell } from 'lucide-react'
import { useEffect, useState } from 'react'
import type { ServiceEvent } from '../../../client/events.ts'
import { listNotifications, showNotification, type NotificationEvent } from '../../../client/generated/index.ts'
import { Button } from '../../parts/button.tsx'
import { say } from '../say.ts'
import { asked, body } from '../service.ts'
import { useConnection, useServiceEvents } from './live-updates.tsx'

type Told = Pick<NotificationEvent, 'notificationId' | 'title' | 'text'>

/** What this page shows now, by the ids of the service. */
const shown = new Map<string, Notification>()

/**
 * Whether a page may make notifications, before it is permitted to: one that is made then is not shown. Browsers of Android leave them to
 * service workers, which this console has none of, and throw.
 */
function canMake (): boolean {
  try {
    return Boolean(new Notification(''))
  } catch {
    return false
  }
}

const canAsk = () => 'Notification' in window && Notification.permission === 'default' && canMake()
const mayShow = () => 'Notification' in window && Notification.permission === 'granted'

/** Shows a notification if the browser allows it and no other page or shell does. */
async function show ({ notificationId, title, text }: Told): Promise<void> {
  if (!mayShow()) return
  const { first } = await showNotification({ ...asked(), path: { id: notificationId }, body: { shown: true } }).then(body)
  if (!first) return
  const notification = new Notification(title, { tag: notificationId, ...(text !== undefined && { body: text }) })
  notification.onclick = () => window.focus()
  shown.set(notificationId, notification)
}

/** Puts the number of things that are open before the title of the page, whatever page sets it. */
function useCountInTitle (count: number) {
  useEffect(() => {
    const write = () => {
      const wanted = `${count > 0 ? `(${count}) ` : ''}${document.title.replace(/^\(\d+\) /, '')}`
      if (document.title !== wanted) document.title = wanted
    }
    write()
    const titles = new MutationObserver(write)
    titles.observe(document.head, { subtree: true, childList: true, characterData: true })
    return () => titles.disconnect()
  }, [count])
}

/** Shows what the service tells its person, where the browser allows it, and the number of open things in the title. */
export function Notices () {
  const [count, setCount] = useState(0)
  const connection = useConnection()
  useCountInTitle(count)

  // What was told before this page listened.
  useEffect(() => {
    if (connection !== 'open') return
    void listNotifications(asked()).then(body).then(({ notifications, count }) => {
      setCount(count)
      for (const notification of notifications) if (notification.needsShowing) void show(notification).catch(() => {})
    }).catch(() => {})
  }, [connection])

  useServiceEvents((event: ServiceEvent) => {
    if (event.type === 'notification') {
      setCount(event.count)
      void show(event).catch(() => {})
    } else if (event.type === 'notification:closed') {
      setCount(event.count)
      shown.get(event.notificationId)?.close()
      shown.delete(event.notificationId)
    }
  })
  return null
}

/** A button that asks the browser for permission to show notifications; absent once the user has decided. */
export function AllowNotices () {
  const [isAsking, setIsAsking] = useState(canAsk)
  if (!isAsking) return null
  const allow = () => void Notification.requestPermission().then(() => setIsAsking(canAsk()))
  return <Button onClick={allow}><Bell /> {say('inbox.allowNotices')}</Button>
}
